/** The rules of the architecture, each with its reason, checked against the import graph and the text. */
import { dirname, join, relative } from "node:path";

/** A product source file: its path from the root, its text, and the files it imports. */
export interface Source {
  readonly path: string;
  readonly text: string;
  /** Paths from the root for relative imports, specifiers as written for others. */
  readonly imports: readonly string[];
}

export interface Rule {
  readonly reason: string;
  /** Which files the rule speaks of; a rule that matches none has outlived its subject and fails. */
  readonly about: (path: string) => boolean;
  /** What is wrong with one of them, or null. */
  readonly wrong: (source: Source) => string | null;
}

const under = (...directories: string[]) => (path: string) =>
  directories.some((directory) => path === directory || path.startsWith(`${directory}/`));
const except = (rule: (path: string) => boolean, ...paths: string[]) => (path: string) =>
  rule(path) && !paths.includes(path);
const product = under("bridge", "ship", "shared");

const importsNone = (...directories: string[]) => (source: Source) =>
  source.imports.find(under(...directories)) ?? null;

/** Code with comments and strings blanked out, so that prose about `Deno.serve` is no use of it. */
export function codeOnly(text: string): string {
  return text.replace(
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g,
    (part) => part.startsWith("/") ? " " : '""',
  );
}

const uses = (pattern: RegExp) => (source: Source) =>
  pattern.exec(codeOnly(source.text))?.[0] ?? null;

/** Only the files in `doors` may use `pattern`. */
const door = (pattern: RegExp, reason: string, ...doors: string[]): Rule[] => [
  { reason, about: except(product, ...doors), wrong: uses(pattern) },
  {
    reason: `a door stands where it is said to: ${doors.join(", ")}`,
    about: (path) => doors.includes(path),
    wrong: () => null,
  },
];

const pureNames = /\/(parse|policy|state|grid|diff|plan|names|phc|ansi|keys|mouse)\.ts$/;

export const rules: readonly Rule[] = [
  {
    reason: "bridge and ship meet on the wire only",
    about: under("bridge"),
    wrong: importsNone("ship"),
  },
  {
    reason: "bridge and ship meet on the wire only",
    about: under("ship"),
    wrong: importsNone("bridge"),
  },
  {
    reason: "shared is what both stand on",
    about: under("shared"),
    wrong: importsNone("bridge", "ship"),
  },
  {
    reason: "the product does not need its tests or scripts to run",
    about: product,
    wrong: importsNone("tests", "scripts"),
  },
  {
    reason: "a reader must see where a name comes from",
    about: product,
    wrong: uses(/export \* from/),
  },
  {
    reason: "the browser imports shared, so outside host it is platform-neutral",
    about: (path) => under("shared")(path) && !under("shared/host")(path),
    wrong: (source) =>
      uses(/\bDeno\./)(source) ?? source.imports.find((name) => name.startsWith("node:")) ??
        source.imports.find(under("shared/host")) ?? null,
  },
  {
    reason: "schemas describe the wire and depend on nothing that acts",
    about: under("shared/schema"),
    wrong: (source) =>
      source.imports.find((name) =>
        name !== "zod" && !["shared/ids.ts", "shared/limits.ts"].includes(name) &&
        !under("shared/schema")(name)
      ) ?? null,
  },
  {
    reason: "pure leaves are tested by values alone",
    about: (path) => product(path) && pureNames.test(path),
    wrong: (source) =>
      source.imports.find((name) =>
        under("shared/host", "shared/http")(name) ||
        ["shared/clock.ts", "shared/log.ts"].includes(name)
      ) ?? uses(/\bDeno\.|\bDate\.now\(|Math\.random\(/)(source),
  },
  {
    reason: "faces speak to the bridge over its routes, like anybody",
    about: under("bridge/cli"),
    wrong: (source) =>
      source.imports.find((name) =>
        under("bridge")(name) && !under("bridge/cli", "bridge/launch")(name)
      ) ??
        null,
  },
  ...door(
    /\bDeno\.Command\b/,
    "one door to other programs: bounds and environment are kept in one place",
    "shared/host/command.ts",
    "shared/host/daemon.ts",
  ),
  ...door(
    /\bDeno\.(serve|upgradeWebSocket)\b/,
    "one listener: its bounds hold for every route",
    "shared/host/listen.ts",
  ),
  ...door(
    /\bDeno\.(exit|env|addSignalListener|args)\b/,
    "the process is touched in one place; features take values",
    "shared/host/lifecycle.ts",
  ),
  ...door(/\bDeno\.openKv\b/, "the database opens in the composition root", "bridge/main.ts"),
];

/** Every broken rule, a line each. */
export function brokenRules(sources: readonly Source[]): string[] {
  const broken = rules.flatMap((rule) => {
    const subjects = sources.filter(({ path }) => rule.about(path));
    if (subjects.length === 0) return [`no file matches the rule "${rule.reason}"`];
    return subjects.flatMap((source) => {
      const wrong = rule.wrong(source);
      return wrong === null ? [] : [`${source.path}: ${wrong} - ${rule.reason}`];
    });
  });
  return [...broken, ...cycles(sources)];
}

/** Import cycles, each named once by one of its paths. */
export function cycles(sources: readonly Source[]): string[] {
  const imports = new Map(sources.map((source) => [source.path, source.imports]));
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: readonly string[]) => {
    const start = trail.indexOf(path);
    if (start !== -1) {
      found.push(`import cycle: ${[...trail.slice(start), path].join(" -> ")}`);
      return;
    }
    if (done.has(path)) return;
    for (const next of imports.get(path) ?? []) {
      if (imports.has(next)) visit(next, [...trail, path]);
    }
    done.add(path);
  };
  for (const { path } of sources) visit(path, []);
  return found;
}

/** Reads the sources below `root`. */
export async function readSources(root: string): Promise<Source[]> {
  const sources: Source[] = [];
  for (const top of ["bridge", "ship", "shared"]) {
    for await (const path of typeScriptFiles(join(root, top))) {
      const text = await Deno.readTextFile(path);
      sources.push({ path: relative(root, path), text, imports: importsOf(root, path, text) });
    }
  }
  return sources;
}

async function* typeScriptFiles(directory: string): AsyncGenerator<string> {
  for await (const entry of Deno.readDir(directory)) {
    const path = join(directory, entry.name);
    if (entry.isDirectory) yield* typeScriptFiles(path);
    else if (/\.tsx?$/.test(entry.name)) yield path;
  }
}

function importsOf(root: string, path: string, text: string): string[] {
  const specifiers = [...text.matchAll(/^\s*(?:import|export)\b[^"';]*?from\s+"([^"]+)"/gm)]
    .concat([...text.matchAll(/\bimport\(\s*"([^"]+)"/g)], [
      ...text.matchAll(/^import "([^"]+)"/gm),
    ])
    .map((match) => match[1] ?? "");
  return specifiers.map((specifier) =>
    specifier.startsWith(".") ? relative(root, join(dirname(path), specifier)) : specifier
  );
}

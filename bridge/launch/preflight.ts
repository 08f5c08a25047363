/** What the daemons need of the host, looked at before anything is started. */
import { CommandLane } from "../../shared/host/command.ts";
import { findProgram } from "../../shared/host/files.ts";

export interface Version {
  readonly major: number;
  readonly minor: number;
}

interface Requirement {
  readonly program: string;
  /** Packages that bring it. */
  readonly debian: string;
  readonly brew: string;
  readonly least?: Version & { readonly argument: string };
}

const requirements: readonly Requirement[] = [
  {
    program: "git",
    debian: "git",
    brew: "git",
    least: { major: 2, minor: 39, argument: "--version" },
  },
  { program: "tmux", debian: "tmux", brew: "tmux", least: { major: 3, minor: 2, argument: "-V" } },
  { program: "script", debian: "bsdutils", brew: "util-linux" },
  { program: "timeout", debian: "coreutils", brew: "coreutils" },
  { program: "stty", debian: "coreutils", brew: "coreutils" },
  { program: "ln", debian: "coreutils", brew: "coreutils" },
];

export interface Preflight {
  /** Absolute paths of the programs found, by name. */
  readonly programs: Readonly<Record<string, string>>;
  /** One sentence each, for people; empty when all is well. */
  readonly problems: readonly string[];
}

const versionMs = 10_000;

/** Looks for the programs on `searchPath` (a PATH) and asks those with a least version for theirs. */
export async function preflight(searchPath: string): Promise<Preflight> {
  const programs: Record<string, string> = {};
  for (const { program } of requirements) {
    const path = await findProgram(program, searchPath);
    if (path !== null) programs[program] = path;
  }
  const { timeout } = programs;
  const lane = timeout === undefined ? null : new CommandLane({
    programs,
    timeoutPath: timeout,
    environment: { PATH: searchPath, LC_ALL: "C" },
    concurrencyMax: 2,
    queueMax: requirements.length,
  });
  const problems = await Promise.all(requirements.map(async (requirement) => {
    const { program, least } = requirement;
    if (programs[program] === undefined) return problemOf(requirement, null);
    if (least === undefined || lane === null) return null;
    const { stdout } = await lane.run(program, [least.argument], { timeoutMs: versionMs });
    return problemOf(requirement, new TextDecoder().decode(stdout).trim());
  }));
  return { programs, problems: problems.filter((problem) => problem !== null) };
}

/** What is wrong with a program that answered `answer` (null: it is missing), or null. Pure. */
export function problemOf(
  { program, debian, brew, least }: Requirement,
  answer: string | null,
): string | null {
  const install = `install it with \`apt install ${debian}\` or \`brew install ${brew}\``;
  if (answer === null) return `${program} is missing: ${install}`;
  if (least === undefined) return null;
  const version = parseVersion(answer);
  // A build from a branch names no number ("tmux master"): it is taken at its word.
  if (version === null || isAtLeast(version, least)) return null;
  return `${program} is too old (${answer}; ${least.major}.${least.minor} or newer is needed): ` +
    install.replace("install it", "install a newer one");
}

/** The first `<major>.<minor>` in a program's answer: `git version 2.39.5`, `tmux 3.3a`, `tmux next-3.4`. */
export function parseVersion(answer: string): Version | null {
  const match = /(\d+)\.(\d+)/.exec(answer);
  return match === null ? null : { major: Number(match[1]), minor: Number(match[2]) };
}

function isAtLeast(version: Version, least: Version): boolean {
  return version.major > least.major ||
    (version.major === least.major && version.minor >= least.minor);
}

/** The requirement of `program`, for `problemOf`. */
export function requirementOf(program: string): Requirement {
  const requirement = requirements.find((one) => one.program === program);
  if (requirement === undefined) throw new Error(`${program} is not required`);
  return requirement;
}

/** Which paths an armory may have: the bridge lists and serves no others, the ship installs no others. */

const pathBytesMax = 1024;
const componentBytesMax = 255;
const encoder = new TextEncoder();
// deno-lint-ignore no-control-regex -- control characters are exactly what is looked for
const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/;

/** Why `path` is unsafe as a relative POSIX path, as the end of a sentence; null when it is safe. */
export function unsafePathRule(path: string): string | null {
  if (path === "") return "is empty";
  if (!path.isWellFormed()) return "is not well-formed Unicode";
  if (encoder.encode(path).length > pathBytesMax) return `has more than ${pathBytesMax} bytes`;
  if (path.startsWith("/")) return "is absolute";
  if (path.includes("\\")) return "contains a backslash";
  if (controlCharacter.test(path)) return "contains a control character";
  for (const component of path.split("/")) {
    if (component === "") return "has an empty component";
    if (component === "." || component === "..") return `has a ${component} component`;
    if (encoder.encode(component).length > componentBytesMax) {
      return `has a component of more than ${componentBytesMax} bytes`;
    }
  }
  return null;
}

/** A dotfile's destination: what it is rooted in and the components below that. */
export interface DotfileDestination {
  readonly root: "home" | "absolute";
  /** Relative to the root, safe by `unsafePathRule`. */
  readonly path: string;
}

/** Reads `~/…` or an absolute path; gives the reason as the end of a sentence when it is neither. */
export function parseDestination(text: string): DotfileDestination | { readonly why: string } {
  const root = text.startsWith("~/") ? "home" : text.startsWith("/") ? "absolute" : null;
  if (root === null) return { why: "must be ~/… or an absolute path" };
  const path = text.slice(root === "home" ? 2 : 1);
  const rule = unsafePathRule(path);
  return rule === null
    ? { root, path }
    : { why: `must be ~/… or an absolute path, but it ${rule}` };
}

/**
 * Grid identifiers: the names of repos, workspaces and ships.
 *
 * A value of a branded type has been parsed; nothing behind the door checks a name again. The rules
 * and their messages are the interface's ("Identifiers").
 */

declare const brand: unique symbol;

/** A string that satisfies every identifier rule; `Kind` says what it names. */
export type Identifier<Kind extends IdentifierKind = IdentifierKind> = string & {
  readonly [brand]: Kind;
};
export type IdentifierKind = "repo" | "workspace" | "ship";
export type RepoName = Identifier<"repo">;
export type WorkspaceName = Identifier<"workspace">;
export type ShipName = Identifier<"ship">;

/** The pair that names a workspace across the fleet. */
export interface WorkspaceId {
  readonly repoName: RepoName;
  readonly name: WorkspaceName;
}

/** `<repoName>/<name>`: unambiguous, because an identifier holds no separator. */
export type WorkspaceKey = string & { readonly [brand]: "key" };

export const identifierBytesMax = 128;

const encoder = new TextEncoder();
// deno-lint-ignore no-control-regex -- control characters are exactly what is looked for
const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/;

/** The first rule that `text` breaks, in the interface's words, or null when it is an identifier. */
export function brokenIdentifierRule(text: string): string | null {
  if (text.length === 0) return "must not be empty";
  if (!text.isWellFormed()) return "must be well-formed Unicode";
  if (encoder.encode(text).length > identifierBytesMax) return "must be at most 128 UTF-8 bytes";
  if (text === "." || text === "..") return "must not be . or ..";
  if (/[/\\]/.test(text)) return "must not contain path separators";
  if (controlCharacter.test(text)) return "must not contain Unicode control characters";
  return null;
}

/** Brands `text` when it is an identifier; null otherwise. */
export function asIdentifier<Kind extends IdentifierKind>(
  _kind: Kind,
  text: string,
): Identifier<Kind> | null {
  return brokenIdentifierRule(text) === null ? text as Identifier<Kind> : null;
}

/** The key of a workspace in maps and messages. */
export function workspaceKey(id: WorkspaceId): WorkspaceKey {
  return `${id.repoName}/${id.name}` as WorkspaceKey;
}

/**
 * The form under which two names count as one on a file system that folds case or normalises:
 * Unicode NFC (UAX #15), then lower case.
 */
export function collisionForm(name: string): string {
  return name.normalize("NFC").toLowerCase().normalize("NFC");
}

const bidiControl = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** `text` with bidirectional controls (UAX #9) and control characters spelled out, for people to read. */
export function displayText(text: string): string {
  const spell = (character: string) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  // deno-lint-ignore no-control-regex -- a terminal must never receive these
  return text.replace(bidiControl, spell).replace(/[\u0000-\u001f\u007f-\u009f]/g, spell);
}

/** The door for names that arrive as plain strings: a branded identifier, or the interface's 400. */
import { fail, type FailureCode } from "./errors.ts";
import { asIdentifier, brokenIdentifierRule, type Identifier, type IdentifierKind } from "./ids.ts";

export const identifierFailures = {
  repo: "invalidRepoIdentifier",
  workspace: "invalidWorkspaceIdentifier",
  ship: "invalidShipIdentifier",
} as const satisfies Record<IdentifierKind, FailureCode>;

/** `text` as an identifier of its kind; throws the kind's 400 with the rule that it breaks as `reason`. */
export function parseIdentifier<Kind extends IdentifierKind>(
  kind: Kind,
  text: string,
): Identifier<Kind> {
  const identifier = asIdentifier(kind, text);
  if (identifier !== null) return identifier;
  const code: "invalidRepoIdentifier" | "invalidWorkspaceIdentifier" | "invalidShipIdentifier" =
    identifierFailures[kind];
  throw fail(code, undefined, { reason: brokenIdentifierRule(text) ?? "is invalid" });
}

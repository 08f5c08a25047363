/** The first admin of a bridge that has none: from three variables, from a prompt, or not at all. */
import { type CreateUser, emailSchema, newPasswordSchema } from "../../shared/schema/auth.ts";
import { brokenUsernameRule } from "./names.ts";

/** `GRID_BRIDGE_ADMIN_USER`, `…_EMAIL`, `…_PASSWORD` as read; unset and empty are alike. */
export interface AdminVariables {
  readonly username?: string | undefined;
  readonly email?: string | undefined;
  readonly password?: string | undefined;
}

/** A person at a terminal; null answers are the end of input. */
export interface AdminTerminal {
  ask(question: string): Promise<string | null>;
  /** Without showing what is typed. */
  askSecret(question: string): Promise<string | null>;
  tell(line: string): void;
}

export interface FirstAdminSituation {
  readonly hasAdmin: boolean;
  readonly insecure: boolean;
  readonly variables: AdminVariables;
  readonly stdinIsTerminal: boolean;
}

export type FirstAdminDecision =
  | { readonly kind: "none" }
  | { readonly kind: "create"; readonly user: CreateUser }
  | { readonly kind: "prompt" }
  /** The start is refused, with this sentence. */
  | { readonly kind: "refuse"; readonly message: string };

const names = {
  username: "GRID_BRIDGE_ADMIN_USER",
  email: "GRID_BRIDGE_ADMIN_EMAIL",
  password: "GRID_BRIDGE_ADMIN_PASSWORD",
} as const;
const threeNames = `${names.username}, ${names.email} and ${names.password}`;

export const noAdminHint =
  `this bridge has no users, and no terminal to ask for the first admin: set ${threeNames}, ` +
  `or start it with --insecure-no-auth (GRID_INSECURE_NO_AUTH=1) to serve without authentication`;

/** Pure: what a starting bridge does about its first admin. */
export function decideFirstAdmin(situation: FirstAdminSituation): FirstAdminDecision {
  const { hasAdmin, insecure, variables, stdinIsTerminal } = situation;
  if (hasAdmin || insecure) return { kind: "none" };
  const { username = "", email = "", password = "" } = variables;
  const given = { username, email, password };
  const keys = Object.keys(names) as (keyof typeof names)[];
  const missing = keys.filter((key) => given[key] === "").map((key) => names[key]);
  if (missing.length === keys.length) {
    return stdinIsTerminal ? { kind: "prompt" } : { kind: "refuse", message: noAdminHint };
  }
  if (missing.length > 0) {
    return {
      kind: "refuse",
      message: `the first admin needs all three of ${threeNames}, or none of them: ` +
        `${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} not set`,
    };
  }
  for (const key of keys) {
    const why = problem(key, given[key]);
    if (why !== null) return { kind: "refuse", message: `${names[key]} ${why}` };
  }
  return { kind: "create", user: { ...given, role: "admin" } };
}

/** What is wrong with one answer, for people, or null. */
function problem(key: keyof typeof names, text: string): string | null {
  if (key === "username") return brokenUsernameRule(text);
  const parsed = (key === "email" ? emailSchema : newPasswordSchema).safeParse(text);
  return parsed.success ? null : parsed.error.issues[0]?.message ?? "is invalid";
}

/** Answers to one question that may be wrong before the prompt gives up. */
const answersMax = 5;

/** Asks for the first admin. Throws an `Error` with a sentence when input ends or stays wrong. */
export async function promptFirstAdmin(terminal: AdminTerminal): Promise<CreateUser> {
  terminal.tell("This bridge has no users yet. Its first user is an admin.");
  const username = await answer(terminal, "username", () => terminal.ask("Username: "));
  const email = await answer(terminal, "email", () => terminal.ask("Email: "));
  const password = await answer(terminal, "password", async () => {
    const first = await terminal.askSecret("Password: ");
    if (first === null || problem("password", first) !== null) return first;
    const second = await terminal.askSecret("Password again: ");
    return second === null || second === first ? second : { differs: true };
  });
  return { username, email, password, role: "admin" };
}

async function answer(
  terminal: AdminTerminal,
  key: keyof typeof names,
  ask: () => Promise<string | null | { readonly differs: true }>,
): Promise<string> {
  for (let tries = 0; tries < answersMax; tries += 1) {
    const text = await ask();
    if (text === null) throw new Error(`input ended before the first admin was complete`);
    const why = typeof text === "string" ? problem(key, text) : "was not the same twice";
    if (why === null) return text as string;
    terminal.tell(`The ${key} ${why}.`);
  }
  throw new Error(`no usable ${key} in ${answersMax} answers: start the bridge again to retry`);
}

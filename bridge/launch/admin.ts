/** The first admin of a launched bridge: from the variables, made up, or asked for. */
import { join } from "node:path";
import { writeAtomically } from "../../shared/host/files.ts";
import { type AdminTerminal, promptFirstAdmin } from "../auth/first_admin.ts";

const names = {
  username: "GRID_BRIDGE_ADMIN_USER",
  email: "GRID_BRIDGE_ADMIN_EMAIL",
  password: "GRID_BRIDGE_ADMIN_PASSWORD",
} as const;

/** What the bridge's environment has about its first admin, and the password if we made it up. */
export interface AdminEnvironment {
  readonly variables: Readonly<Record<string, string>>;
  readonly madeUp: { readonly username: string; readonly password: string } | null;
}

const passwordBytes = 18;

/** `given` are the three variables of the launcher's own environment, those that are set. */
export function adminEnvironment(
  given: Readonly<Record<string, string>>,
  { interactive }: { readonly interactive: boolean },
): AdminEnvironment {
  // On a terminal the bridge refuses first, and then somebody is asked: only it knows whether it has users.
  if (Object.keys(given).length > 0 || interactive) return { variables: given, madeUp: null };
  const password = crypto.getRandomValues(new Uint8Array(passwordBytes)).toBase64({
    alphabet: "base64url",
  });
  return {
    variables: variablesOf({ username: "admin", email: "admin@localhost", password }),
    madeUp: { username: "admin", password },
  };
}

/** Asks at the terminal. Throws an `Error` with a sentence when there is no usable answer. */
export async function askFirstAdmin(terminal: AdminTerminal): Promise<AdminEnvironment> {
  const { username, email, password } = await promptFirstAdmin(terminal);
  return { variables: variablesOf({ username, email, password }), madeUp: null };
}

function variablesOf(admin: Record<keyof typeof names, string>): Record<string, string> {
  return {
    [names.username]: admin.username,
    [names.email]: admin.email,
    [names.password]: admin.password,
  };
}

/** Keeps a made-up password where its owner finds it (0600); gives the file's path. */
export async function writeFirstAdmin(
  dataDir: string,
  { username, password }: { readonly username: string; readonly password: string },
): Promise<string> {
  const path = join(dataDir, "first-admin.txt");
  await writeAtomically(path, `username: ${username}\npassword: ${password}\n`);
  return path;
}

/** The names of the three variables, for whoever reads the environment. */
export const adminVariableNames: readonly string[] = Object.values(names);

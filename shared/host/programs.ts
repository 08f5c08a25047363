/** The programs that a daemon needs, found on PATH. */
import { findProgram } from "./files.ts";

const packages = {
  git: "git",
  tmux: "tmux",
  timeout: "coreutils",
  script: "bsdutils",
  ln: "coreutils",
  stty: "coreutils",
} as const;
export type NeededProgram = keyof typeof packages;

/** Absolute paths by name. Throws an `Error` with one sentence that names the packages to install. */
export async function requirePrograms<Name extends NeededProgram>(
  names: readonly Name[],
  searchPath: string,
): Promise<Record<Name, string>> {
  const found: Partial<Record<Name, string>> = {};
  const missing: Name[] = [];
  for (const name of names) {
    const path = await findProgram(name, searchPath);
    if (path === null) missing.push(name);
    else found[name] = path;
  }
  if (missing.length === 0) return found as Record<Name, string>;
  const install = missing.map((name) => packages[name]).join(" ");
  throw new Error(
    `${
      missing.join(" and ")
    } not found on PATH: install it (Debian, Ubuntu: apt-get install ${install})`,
  );
}

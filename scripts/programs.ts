/** The programs that Workspace Grid needs, and the sentence to say when one is missing. */
const needed = [
  { program: "git", debian: "git" },
  { program: "tmux", debian: "tmux" },
  { program: "script", debian: "bsdutils" },
  { program: "timeout", debian: "coreutils" },
] as const;

/** A sentence for each needed program that is not on PATH. */
export async function missingPrograms(): Promise<string[]> {
  const directories = (Deno.env.get("PATH") ?? "").split(":").filter((path) =>
    path.startsWith("/")
  );
  const missing: string[] = [];
  for (const { program, debian } of needed) {
    const found = await Promise.all(
      directories.map((directory) =>
        Deno.stat(`${directory}/${program}`).then((info) => info.isFile, () => false)
      ),
    );
    if (!found.includes(true)) {
      missing.push(`${program} is missing: install it (Debian, Ubuntu: apt-get install ${debian})`);
    }
  }
  return missing;
}

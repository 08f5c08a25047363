import assert from "node:assert/strict";

const module = new URL("../../shared/host/lifecycle.ts", import.meta.url);

/** What `ignoresHangup` says in a process that `sh` starts after `before`. */
async function asked(before: string): Promise<string> {
  const program = `import { ignoresHangup } from "${module}"; console.log(ignoresHangup());`;
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", `${before} exec "$0" eval --cached-only '${program}'`, Deno.execPath()],
  }).output();
  return new TextDecoder().decode(stdout).trim();
}

Deno.test("a process knows whether it shall outlive its terminal", async () => {
  assert.equal(await asked("trap '' HUP;"), "true");
  assert.equal(await asked(""), "false");
});

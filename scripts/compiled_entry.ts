/**
 * The entry of the compiled binary: `grid ship run …` and `grid bridge run …` are the daemons, everything
 * else is the command line. It stands here because neither daemon may know the other. The parts are loaded
 * when they are wanted: a command does not pay for the daemons.
 */
if (import.meta.main) Deno.exitCode = await main(Deno.args);

async function main([kind, verb, ...flags]: readonly string[]): Promise<number> {
  if (verb === "run" && kind === "ship") return await (await import("../ship/main.ts")).main(flags);
  if (verb === "run" && kind === "bridge") {
    return await (await import("../bridge/main.ts")).main(flags);
  }
  return await (await import("../bridge/cli/main.ts")).main();
}

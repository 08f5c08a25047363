/**
 * `deno task compile`: one binary, `dist/grid`, with the command line and both daemons, and proof that it
 * runs. `deno compile` fetches the runtime for it (`denort`) from Deno's download site once; where that
 * cannot be reached, `DENORT_BIN=<path of a denort of the same version>` gives it one.
 */
import { fileURLToPath } from "node:url";

/**
 * What the binary may do, for good. It is the union of what its parts need: `grid up` chooses programs and
 * directories at run time, so a binary cannot be narrowed like the daemons under `deno run` are. FFI is
 * not in it.
 */
export const binaryPermissions: readonly string[] = [
  "--no-prompt",
  "--allow-net",
  "--allow-env",
  "--allow-read",
  "--allow-write",
  "--allow-run",
  "--allow-sys=hostname,osRelease,osUptime,loadavg,cpus,systemMemoryInfo,uid",
];

const root = fileURLToPath(new URL("..", import.meta.url));
const output = "dist/grid";

if (import.meta.main) Deno.exitCode = await build();

async function build(): Promise<number> {
  await Deno.mkdir(`${root}/dist`, { recursive: true });
  const compiled = await run(Deno.execPath(), [
    "compile",
    "--quiet",
    "--frozen",
    "--cached-only",
    ...binaryPermissions,
    `--output=${output}`,
    "scripts/compiled_entry.ts",
  ]);
  if (compiled !== 0) {
    console.error(
      "deno compile failed. If it could not fetch denort, the runtime of compiled programs: connect " +
        "this machine to the network once, or set DENORT_BIN to a denort of this version of Deno.",
    );
    return compiled;
  }
  // A version needs the command line, the demo both daemons as subcommands of the binary itself.
  for (const args of [["version"], ["demo", "--once"]]) {
    const code = await run(`${root}/${output}`, args);
    if (code !== 0) {
      console.error(
        `${output} ${args.join(" ")} ended with ${code}: the binary is not fit for use`,
      );
      return code;
    }
  }
  console.log(`${output} is built and runs`);
  return 0;
}

async function run(program: string, args: readonly string[]): Promise<number> {
  const { code } = await new Deno.Command(program, { args: [...args], cwd: root }).output()
    .then(async (result) => {
      if (result.code !== 0) await Deno.stderr.write(result.stderr);
      return result;
    });
  return code;
}

/** How a daemon is started: from source under `deno run`, or as a subcommand of the compiled binary. */
import { daemonFlags, type DaemonKind, type DaemonScope } from "../../shared/host/permissions.ts";

/** The program and its arguments for a daemon with these flags and permissions. */
export type DaemonCommand = (
  kind: DaemonKind,
  flags: readonly string[],
  scope: DaemonScope,
) => { readonly path: string; readonly args: readonly string[] };

/** `deno run <permissions> <entry> <flags>`; `entries` are absolute paths. */
export function sourceCommand(
  denoPath: string,
  entries: Readonly<Record<DaemonKind, string>>,
): DaemonCommand {
  return (kind, flags, scope) => ({
    path: denoPath,
    args: ["run", ...daemonFlags(kind, scope), entries[kind], ...flags],
  });
}

/**
 * `<binary> ship run <flags>`: a compiled program has the permissions that it was compiled with, so the
 * scope cannot narrow them.
 */
export function binaryCommand(binaryPath: string): DaemonCommand {
  return (kind, flags) => ({ path: binaryPath, args: [kind, "run", ...flags] });
}

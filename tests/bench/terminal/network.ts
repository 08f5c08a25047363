/**
 * A network of the bench's own: a loopback with an Ethernet's MTU whose bytes are counted and whose rate can be
 * bounded. Needs `unshare`, `ip` and `tc`; without them the bench runs on the machine's own loopback, and says
 * which figures it therefore cannot give.
 */
import { findProgram } from "../../../shared/host/files.ts";

const insideVariable = "GRID_BENCH_NAMESPACE";
const mtuBytes = 1_500;

/**
 * Runs `script` again inside namespaces of its own, for the network and for processes, so that however it ends
 * nothing of it goes on; its exit code, or null when there can be none.
 */
export async function runInNamespace(
  script: string,
  args: readonly string[],
): Promise<number | null> {
  if (Deno.env.has(insideVariable)) return null;
  const path = Deno.env.get("PATH") ?? "";
  const programs = await Promise.all(
    ["unshare", "ip", "tc"].map((name) => findProgram(name, path)),
  );
  if (programs.includes(null)) return null;
  const unshare = programs[0]!;
  const apart = ["--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];
  const probe = await new Deno.Command(unshare, { args: [...apart, "true"], stderr: "null" })
    .output();
  if (!probe.success) return null;
  const directory = await Deno.makeTempDir({ prefix: "bench-" });
  const inside = `ip link set lo up mtu ${mtuBytes} && exec "$@"`;
  const deno = [Deno.execPath(), "run", "-A", "--cached-only", script, ...args];
  const child = new Deno.Command(unshare, {
    args: [...apart, "sh", "-c", inside, "bench", ...deno],
    env: { [insideVariable]: "1", TMPDIR: directory },
  }).spawn();
  const end = () => child.kill("SIGKILL");
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, end);
  const { code } = await child.status;
  await Deno.remove(directory, { recursive: true });
  return code;
}

/** The loopback of the namespace, or null when the bench runs outside of one. */
export function ownNetwork(): Network | null {
  return Deno.env.has(insideVariable) ? new Network() : null;
}

export class Network {
  /** Bytes that crossed the loopback so far, both ways, with the headers of TCP or UDP and IP. */
  async bytes(): Promise<number> {
    const table = await Deno.readTextFile("/proc/net/dev");
    const [received] = /^\s*lo:\s*(\d+)/m.exec(table)?.slice(1) ?? [];
    return Number(received);
  }

  /** Bounds the rate, both ways together, until the result is disposed. */
  async throttled(bytesPerSecond: number): Promise<AsyncDisposable> {
    const rate = `${bytesPerSecond * 8}bit`;
    await this.#tc(
      "add",
      "root",
      "tbf",
      "rate",
      rate,
      "burst",
      "8kb",
      "latency",
      "400ms",
    );
    return { [Symbol.asyncDispose]: () => this.#tc("del", "root") };
  }

  async #tc(what: string, ...args: string[]): Promise<void> {
    const { success, stderr } = await new Deno.Command("tc", {
      args: ["qdisc", what, "dev", "lo", ...args],
    }).output();
    if (!success) throw new Error(`tc: ${new TextDecoder().decode(stderr)}`);
  }
}

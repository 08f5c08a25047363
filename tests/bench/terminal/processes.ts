/** What processes cost, as Linux's /proc tells it (proc(5)). */
import { processes } from "../../support/grid_process.ts";

/** Every process below those, not they themselves. */
export async function descendantsOf(
  pids: readonly number[],
): Promise<number[]> {
  const all = await processes();
  const found = new Set(pids);
  for (let before = -1; before !== found.size;) {
    before = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return [...found].filter((pid) => !pids.includes(pid));
}

/** Milliseconds of processor time that those living processes have used, all threads together. */
export async function cpuMs(pids: readonly number[]): Promise<number> {
  let nanoseconds = 0;
  for (const pid of pids) {
    const tasks = await Array.fromAsync(Deno.readDir(`/proc/${pid}/task`)).catch(() => []);
    for (const { name } of tasks) {
      const used = await Deno.readTextFile(`/proc/${pid}/task/${name}/schedstat`).catch(() => "0");
      nanoseconds += Number(used.split(" ")[0]);
    }
  }
  return nanoseconds / 1e6;
}

/** Resident memory in bytes, and threads. */
export async function sizeOf(
  pid: number,
): Promise<{ memoryBytes: number; threads: number }> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]);
  return { memoryBytes: field("VmRSS") * 1024, threads: field("Threads") };
}

/** Figures of the ship's host (interface, "SystemResources"). */
import os from "node:os";
import type { Clock } from "../shared/clock.ts";
import { limits } from "../shared/limits.ts";
import type { SystemResources } from "../shared/schema/ship.ts";

/** Samples the host; takes `limits.cpuSampleMs`, over which the processors' busy share is measured. */
export async function systemResources(clock: Clock): Promise<SystemResources> {
  const before = cpuTimes();
  await new Promise<void>((resolve) => void clock.after(limits.cpuSampleMs, resolve));
  const cpus = os.cpus();
  const total = os.totalmem();
  const free = Math.min(os.freemem(), total);
  return {
    uptimeSeconds: os.uptime(),
    os: {
      type: os.type(),
      platform: os.platform(),
      release: os.release(),
      version: os.version(),
      arch: os.arch(),
      machine: os.machine(),
      hostname: os.hostname(),
    },
    cpu: {
      model: cpus[0]?.model || "unknown",
      cores: cpus.length,
      usage: busyShare(before, cpuTimes()),
      loadAverage: loadAverage(),
    },
    memory: {
      total,
      free,
      used: total - free,
      usage: total === 0 ? 0 : (total - free) / total,
    },
  };
}

/** Milliseconds that all processors together spent idle and in all, since the host started. */
export interface CpuTimes {
  readonly idle: number;
  readonly total: number;
}

function cpuTimes(): CpuTimes {
  let idle = 0;
  let total = 0;
  for (const { times } of os.cpus()) {
    idle += times.idle;
    total += times.user + times.nice + times.sys + times.idle + times.irq;
  }
  return { idle, total };
}

/** The busy fraction between two samples, 0 to 1; 0 when no time passed that the host counts. */
export function busyShare(before: CpuTimes, after: CpuTimes): number {
  const total = after.total - before.total;
  if (total <= 0) return 0;
  return Math.min(1, Math.max(0, 1 - (after.idle - before.idle) / total));
}

/** Zeros where the host has none (Windows). */
function loadAverage(): [number, number, number] {
  const [one = 0, five = 0, fifteen = 0] = os.loadavg();
  return [one, five, fifteen];
}

import assert from "node:assert/strict";
import { systemClock } from "../../shared/clock.ts";
import { limits } from "../../shared/limits.ts";
import { systemResourcesSchema } from "../../shared/schema/ship.ts";
import { busyShare, systemResources } from "../../ship/resources.ts";

Deno.test("the host's figures fit the schema and each other", async () => {
  const startMs = performance.now();
  const resources = systemResourcesSchema.parse(await systemResources(systemClock));
  // Timers may fire a fraction of a millisecond early.
  assert(performance.now() - startMs >= limits.cpuSampleMs - 2);
  const { cpu, memory, os, uptimeSeconds } = resources;
  assert(cpu.cores >= 1 && cpu.usage >= 0 && cpu.usage <= 1 && cpu.model !== "");
  assert(cpu.loadAverage.every((load) => load >= 0));
  assert(memory.total > 0 && memory.free > 0);
  assert.equal(memory.used, memory.total - memory.free);
  assert.equal(memory.usage, memory.used / memory.total);
  assert(uptimeSeconds > 0);
  for (const [name, value] of Object.entries(os)) assert.notEqual(value, "", name);
});

Deno.test("the busy share stays between 0 and 1 whatever the counters do", () => {
  const at = (idle: number, total: number) => ({ idle, total });
  assert.equal(busyShare(at(0, 0), at(75, 100)), 0.25);
  assert.equal(busyShare(at(10, 100), at(10, 200)), 1);
  assert.equal(busyShare(at(10, 100), at(10, 100)), 0);
  assert.equal(busyShare(at(0, 0), at(120, 100)), 0);
  assert.equal(busyShare(at(50, 100), at(40, 200)), 1);
});

/**
 * What authentication costs: `deno run -A tests/bench/auth_bench.ts [samples]` (default 500). Medians of
 * a wrong password and of an unknown user, whose difference hardening 20 bounds at 5 %; logins a second,
 * two at a time; a storm of 60 clients, its effect on memory and on other requests; the cost of the
 * credential check of one request.
 */
import { passwordCost } from "../../bridge/auth/password.ts";
import { AuthBench, people } from "../support/auth_support.ts";

const samples = Number(Deno.args[0] ?? 500);
const windowMs = 16 * 60_000;

const quantile = (times: readonly number[], part: number) =>
  times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * part))] ??
    NaN;
const show = (name: string, value: string) => console.log(`${name.padEnd(44)} ${value}`);
const ms = (value: number) => `${value.toFixed(2)} ms`;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Alternating, so that whatever else the machine does falls on both alike. */
async function equalCost(bench: AuthBench): Promise<void> {
  const known: number[] = [];
  const unknown: number[] = [];
  for (let index = 0; index < samples; index += 1) {
    if (index % 5 === 0) bench.clock.advance(windowMs);
    known.push(await timed(() => bench.login("mia", "wrong password")));
    unknown.push(await timed(() => bench.login("nobody", "wrong password")));
  }
  const [a, b] = [quantile(known, 0.5), quantile(unknown, 0.5)];
  show("wrong password, median", ms(a));
  show("unknown user, median", ms(b));
  show("difference", `${(100 * Math.abs(a - b) / a).toFixed(2)} %`);
}

async function loginsPerSecond(bench: AuthBench): Promise<void> {
  const each = Math.max(10, Math.floor(samples / 10));
  const client = async () => {
    for (let index = 0; index < each; index += 1) {
      await bench.login("mia", people.member.password);
    }
  };
  bench.clock.advance(windowMs);
  const took = await timed(() => Promise.all([client(), client()]));
  show("logins a second, two at a time", (1000 * 2 * each / took).toFixed(1));
}

async function storm(bench: AuthBench, token: string): Promise<void> {
  const before = Deno.memoryUsage().rss;
  let rssMax = before;
  let storming = true;
  const statuses: Record<number, number> = {};
  const others: number[] = [];
  const reader = async () => {
    while (storming) {
      others.push(await timed(() => bench.ask("GET", "/auth/me", { token })));
      rssMax = Math.max(rssMax, Deno.memoryUsage().rss);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  };
  const client = async () => {
    for (let index = 0; index < 3; index += 1) {
      const { status } = await bench.login("mia", people.member.password);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  const reading = reader();
  await Promise.all(Array.from({ length: 60 }, client));
  storming = false;
  await reading;
  show("storm of 60 clients: answers", JSON.stringify(statuses));
  show("storm of 60 clients: other requests, p99", ms(quantile(others, 0.99)));
  show("storm of 60 clients: memory growth", `${((rssMax - before) / 2 ** 20).toFixed(0)} MiB`);
}

async function credentialCheck(bench: AuthBench, token: string): Promise<void> {
  const withToken: number[] = [];
  const without: number[] = [];
  for (let index = 0; index < 4 * samples; index += 1) {
    withToken.push(await timed(() => bench.ask("GET", "/auth/me", { token })));
    without.push(await timed(() => bench.ask("GET", "/auth/mode")));
  }
  show("request with a session, median", ms(quantile(withToken, 0.5)));
  show("open request without one, median", ms(quantile(without, 0.5)));
}

await using bench = await AuthBench.open({ cost: passwordCost });
const user = await bench.auth.users.create(people.member);
await equalCost(bench);
await loginsPerSecond(bench);
const { token } = await bench.auth.sessions.issue(user);
await storm(bench, token);
await credentialCheck(bench, token);

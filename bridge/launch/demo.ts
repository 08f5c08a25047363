/** `grid demo`: a whole grid in a temporary directory, shown by the very commands that people type. */
import { join } from "node:path";
import { messageOf } from "../../shared/errors.ts";
import { TemporaryDirectory } from "../../shared/host/machine.ts";
import { freePort } from "../../shared/host/ports.ts";
import { limits } from "../../shared/limits.ts";
import type { AgentState } from "../../shared/schema/agent.ts";
import type { ShipName } from "../../shared/ids.ts";
import type { CliIo, Context } from "../cli/context.ts";
import { CliFailure } from "../cli/failure.ts";
import type { LaunchHandlers } from "../cli/run.ts";
import { DemoAgent } from "./demo_agent.ts";
import { endTmuxServer, makeSampleRepo } from "./demo_repo.ts";
import type { Notice } from "./notice.ts";
import type { LaunchPlan, ShipPlan } from "./plan.ts";
import { type RunningGrid, startGrid } from "./running_grid.ts";
import { type LaunchOptions, noticePrinter, requirePrograms, untilAborted } from "./up.ts";

/** Runs one command of grid against a bridge; injected, for the tour shows real commands. */
export type RunCommand = (
  argv: readonly string[],
  options: { readonly io: CliIo; readonly url: string },
) => Promise<number>;

export interface DemoOptions extends LaunchOptions {
  readonly run: RunCommand;
}

const loopback = "127.0.0.1";
const repo = "shop";

interface Scene {
  readonly name: string;
  readonly ship: string;
  readonly branch: string;
  /** What the agent there does; empty where none is. */
  readonly steps: readonly Step[];
}

interface Step {
  readonly state: AgentState;
  readonly description: string;
  /** A file that the agent writes first. */
  readonly file?: readonly [path: string, text: string];
}

const scenes: readonly Scene[] = [
  {
    name: "checkout-tax",
    ship: "aurora",
    branch: "checkout-tax",
    steps: [
      { state: "planning", description: "Where does the tax belong?" },
      {
        state: "building",
        description: "Adding tax to the cart's total",
        file: [
          "src/cart.ts",
          "const taxRate = 0.19;\n\nexport function total(prices: number[]): number {\n" +
          "  const net = prices.reduce((sum, price) => sum + price, 0);\n" +
          "  return net * (1 + taxRate);\n}\n",
        ],
      },
      { state: "verifying", description: "Running the cart's tests" },
    ],
  },
  {
    name: "faster-search",
    ship: "borealis",
    branch: "faster-search",
    steps: [
      {
        state: "building",
        description: "Search without regard to case",
        file: [
          "src/search.ts",
          "export function search(names: string[], term: string): string[] {\n" +
          "  const wanted = term.toLowerCase();\n" +
          "  return names.filter((name) => name.toLowerCase().includes(wanted));\n}\n",
        ],
      },
      { state: "awaiting", description: "May I add an index? It costs 2 MB of memory." },
    ],
  },
  { name: "release-notes", ship: "aurora", branch: "release", steps: [] },
];

/** Sync, each agent's introduction, each step. */
const eventsShown = 1 + scenes.filter(({ steps }) => steps.length > 0).length +
  scenes.reduce((sum, { steps }) => sum + steps.length, 0);
const stepMs = 300;
/** A fleet may merge events that come close together: the tour goes on with those that came. */
const eventsMs = 8_000;

/** The handler of `grid demo`. */
export function demoCommand(options: DemoOptions): LaunchHandlers["demo"] {
  return async (values, context) => {
    const programs = await requirePrograms(options.searchPath);
    await using directory = await TemporaryDirectory.make("grid-demo-", values.keep);
    await using stack = new AsyncDisposableStack();
    const plan = await demoPlan(directory);
    const source = await makeSampleRepo(directory, programs, options.searchPath);
    for (const ship of plan.ships) {
      const environment = { ...options.environment, ...ship.environment };
      stack.defer(() => endTmuxServer(programs, environment));
    }
    say(context, `A bridge and two ships, all in ${directory.path}\n\n`);
    const print = noticePrinter(context, false);
    const notice = (notice: Notice) => {
      if (notice.kind !== "log" || notice.level === "error") print(notice);
    };
    const { daemonCommand, environment } = options;
    const stop = context.io.stop;
    try {
      const grid = stack.use(
        await startGrid({
          plan,
          programs,
          notice,
          daemonCommand,
          environment,
          stop,
          adminVariables: {},
          bridgeVariables: {},
          session: null,
        }),
      );
      const tour = new Tour(grid, plan, { context, run: options.run });
      await tour.build(source);
      await tour.work();
      await tour.look();
      if (!values.once) {
        say(
          context,
          `\nThe bridge is ${grid.bridgeUrl}: try \`grid ls --url ${grid.bridgeUrl}\`\n`,
        );
        say(context, "Ctrl-C ends the demo.\n");
        await untilAborted(stop);
      }
    } catch (thrown) {
      if (!stop.aborted) throw thrown;
    }
    await stack.disposeAsync();
    const left = values.keep ? `is left in ${directory.path}` : "is gone, as if it had never been";
    say(context, `\nThe demo ${left}. \`grid up\` starts the real thing.\n`);
    return 0;
  };
}

/** With --json only the commands' own output is on standard output. */
function say({ io, json }: Context, text: string): void {
  if (json) io.err(text);
  else io.out(text);
}

async function demoPlan(directory: TemporaryDirectory): Promise<LaunchPlan> {
  const names = [...new Set(scenes.map(({ ship }) => ship))];
  const ships: ShipPlan[] = [];
  for (const name of names) {
    ships.push({
      name: name as ShipName,
      port: 0,
      hostname: loopback,
      gridDirectory: await directory.directory(name),
      stateDir: await directory.directory(join("state", name)),
      sessionCommand: null,
      // Its own tmux server: no session of the demo appears among those of the user. The name is short
      // because the path of a UNIX socket may have 107 bytes.
      guarded: false,
      environment: {
        TMUX_TMPDIR: await directory.directory(`t${ships.length}`),
        HOME: directory.path,
      },
    });
  }
  return {
    bridge: {
      port: freePort(loopback),
      hostname: loopback,
      publicUrl: null,
      dataDir: await directory.directory("bridge"),
      sweepIntervalMs: limits.sweepIntervalMs,
      // It lives for minutes, on a free loopback port, and holds nothing.
      insecureNoAuth: true,
    },
    ships,
  };
}

interface TourOptions {
  readonly context: Context;
  readonly run: RunCommand;
}

/** The three acts: build up, let agents work, look at it. */
class Tour {
  readonly #context: Context;

  constructor(
    private readonly grid: RunningGrid,
    private readonly plan: LaunchPlan,
    private readonly options: TourOptions,
  ) {
    this.#context = options.context;
  }

  async build(source: string): Promise<void> {
    await this.#grid("repo", "add", repo, source);
    for (const { name, ship, branch } of scenes) {
      const flags = branch === name ? [] : ["--branch", branch];
      await this.#grid("new", repo, name, "--ship", ship, ...flags);
    }
    for (const { name, steps } of scenes) {
      if (steps.length > 0) await this.#grid("activate", `${repo}/${name}`);
    }
  }

  async work(): Promise<void> {
    const enough = new AbortController();
    const stop = AbortSignal.any([this.#context.io.stop, enough.signal]);
    const events = this.#show(["events", "--limit", String(eventsShown)], stop);
    // Awaited below; a failure before that must not go unhandled.
    events.catch(() => {});
    try {
      await Promise.all(scenes.map((scene) => this.#play(scene)));
    } catch (thrown) {
      enough.abort();
      await events.catch(() => {});
      throw thrown;
    }
    const late = setTimeout(() => enough.abort(), eventsMs);
    await events.finally(() => clearTimeout(late));
  }

  async look(): Promise<void> {
    await this.#grid("ls");
    await this.#grid("show", "checkout-tax");
    await this.#grid("diff", "checkout-tax", "--stat");
    await this.#grid("status");
  }

  async #play({ name, ship, steps }: Scene): Promise<void> {
    if (steps.length === 0) return;
    const at = this.grid.ships.find((one) => one.name === ship);
    const directory = this.plan.ships.find((one) => one.name === ship)?.gridDirectory;
    if (at === undefined || directory === undefined) throw new Error(`no ship ${ship}`);
    // The events command needs a moment to connect, or the first reports would be missed.
    await pause(2 * stepMs);
    const agent = new DemoAgent({ shipUrl: at.url, repo, name });
    await agent.start({ model: "scripted", provider: "grid", harness: "demo" });
    for (const { state, description, file } of steps) {
      await pause(stepMs);
      if (file !== undefined) await writeText(join(directory, repo, name, file[0]), file[1]);
      await agent.report({ state, description });
    }
  }

  #grid(...words: string[]): Promise<void> {
    return this.#show(words, this.#context.io.stop);
  }

  /** Shows a command as it would be typed, and runs it. Throws when it fails: a tour has no gaps. */
  async #show(words: readonly string[], stop: AbortSignal): Promise<void> {
    const { io, json, paint } = this.#context;
    io.stop.throwIfAborted();
    say(this.#context, `\n${paint("bold", `$ grid ${words.join(" ")}`)}\n`);
    const code = await this.options.run(
      json ? [...words, "--json"] : words,
      { io: { ...io, stop }, url: this.grid.bridgeUrl },
    );
    // Cut short from here (the events) is no failure.
    if (code !== 0 && !stop.aborted) {
      throw new CliFailure(`the demo stopped because \`grid ${words[0]}\` failed`);
    }
  }
}

async function writeText(path: string, text: string): Promise<void> {
  await Deno.writeTextFile(path, text).catch((cause: unknown) => {
    throw new CliFailure(`could not write ${path}: ${messageOf(cause)}`, { cause });
  });
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

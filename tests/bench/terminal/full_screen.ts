/**
 * A program like htop, but the same in every run: meters, and a table of processes in the order of their load,
 * which changes with each of `full_screen.ts <pictures> <ms between>`. Like htop it writes every row anew.
 */
const [pictures = 100, intervalMs = 50] = Deno.args.map(Number);
const { columns, rows } = Deno.consoleSize();
const write = (text: string) => Deno.stdout.writeSync(new TextEncoder().encode(text));
const headerRow = 5;

/** Mulberry32, by Tommy Ettinger (public domain): the same numbers in every run. */
let seed = 7;
function random(): number {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}

const commands = [
  "deno run ship/main.ts",
  "tmux -L grid-ship",
  "git fetch --all",
  "bash",
  "vim README.md",
];

class Process {
  #ticks = Math.floor(random() * 10_000);
  readonly #memory = (random() * 20).toFixed(1).padStart(4);
  load = random() * 100;

  constructor(private readonly pid: number) {}

  /** A third of the processes does something between two pictures. */
  live(): void {
    if (random() > 1 / 3) return;
    this.load = Math.min(100, Math.max(0, this.load + random() * 20 - 10));
    this.#ticks += Math.floor(this.load / 20);
  }

  line(): string {
    const time = `${Math.floor(this.#ticks / 6000)}:${
      (this.#ticks / 100 % 60).toFixed(2).padStart(5, "0")
    }`;
    const command = commands[this.pid % commands.length];
    return `${String(this.pid).padStart(6)} \x1b[33muser\x1b[39m   20  0 \x1b[1m${
      this.load.toFixed(1).padStart(5)
    }\x1b[22m ${this.#memory} ${time.padStart(8)} \x1b[32m${command}\x1b[39m\x1b[K`;
  }
}

function meter(y: number, name: string, share: number): string {
  const width = Math.floor(columns / 2) - 12;
  const bar = "|".repeat(Math.floor(share * width)).padEnd(width);
  const percent = (share * 100).toFixed(1).padStart(5);
  return `\x1b[${y};1H\x1b[36m${name}\x1b[39m[\x1b[32m${bar}\x1b[90m${percent}%\x1b[39m]`;
}

const title = "   PID USER    PR NI  CPU%  MEM     TIME+ Command".padEnd(
  columns,
).slice(0, columns);
write(
  `\x1b[?1049h\x1b[?25l\x1b[2J\x1b[${headerRow};1H\x1b[30;42m${title}\x1b[0m`,
);
const processes = Array.from(
  { length: 60 },
  (_, i) => new Process(1000 + i * 37),
);
for (let picture = 0; picture < pictures; picture++) {
  for (const process of processes) process.live();
  processes.sort((a, b) => b.load - a.load);
  let text = ["  1", "  2", "Mem", "Swp"].map((name, i) => meter(i + 1, name, random())).join("");
  for (const [i, process] of processes.slice(0, rows - headerRow).entries()) {
    text += `\x1b[${headerRow + 1 + i};1H${process.line()}`;
  }
  write(text);
  await new Promise((resolve) => setTimeout(resolve, intervalMs));
}
write("\x1b[?25h\x1b[?1049l");

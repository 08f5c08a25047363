/** `grid capture`: one look at a session's screen. */
import type { Clock } from "../../../shared/clock.ts";
import type { Socket } from "../../../shared/http/socket.ts";
import { gridAsAnsiText } from "../../../shared/terminal/ansi.ts";
import { ScreenFollower } from "../../../shared/terminal/client.ts";
import type { Grid } from "../../../shared/terminal/grid.ts";
import { terminalClose } from "../../../shared/terminal/protocol.ts";

export interface CaptureOptions {
  readonly socket: Socket;
  readonly clock: Clock;
  /** The session takes this size while it is looked at. */
  readonly size: { readonly cols: number; readonly rows: number };
}

/** A picture is whole when nothing came for so long. */
const quietMs = 120;
const longestMs = 5_000;

/** The screen, or null when there is none to be had: no session, or somebody else has its terminal. */
export async function capture({ socket, clock, size }: CaptureOptions): Promise<Grid | null> {
  const follower = new ScreenFollower();
  const { promise, resolve } = Promise.withResolvers<Grid | null>();
  using _longest = clock.after(longestMs, () => resolve(follower.grid));
  let quiet: Disposable | null = null;
  socket.onText((text) => {
    const received = follower.receive(text);
    if (received.kind === "exit") return resolve(follower.grid);
    for (const frame of received.send) socket.send(JSON.stringify(frame));
    quiet?.[Symbol.dispose]();
    quiet = clock.after(quietMs, () => resolve(follower.grid));
  });
  socket.onClose(() => resolve(follower.grid));
  socket.send(JSON.stringify({ type: "init", ...size }));
  const grid = await promise;
  (quiet as Disposable | null)?.[Symbol.dispose]();
  socket.close(terminalClose.normal.code, "");
  return grid;
}

export type CaptureFormat = "text" | "ansi" | "json";

/** A screen as `grid capture` prints it, with a newline at the end. */
export function printedScreen(grid: Grid, format: CaptureFormat): string {
  switch (format) {
    case "ansi":
      return gridAsAnsiText(grid);
    case "text":
      return linesOf(grid).join("\n").replace(/\n+$/, "") + "\n";
    case "json":
      return JSON.stringify({
        cols: grid.cols,
        rows: grid.rows,
        title: grid.title,
        cursor: { x: grid.cursor.x, y: grid.cursor.y, visible: grid.cursor.visible },
        lines: linesOf(grid),
      }) + "\n";
  }
}

const linesOf = (grid: Grid) => grid.lines.map((_, y) => grid.text(y));

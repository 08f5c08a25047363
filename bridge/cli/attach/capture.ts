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

/** `absent`: no session, no ship, or somebody else has its terminal. */
export type Captured =
  | { readonly kind: "screen"; readonly grid: Grid }
  | { readonly kind: "absent" }
  | { readonly kind: "closed"; readonly code: number; readonly reason: string };

/** Looks until the picture is whole; of a session that never rests, the newest. */
export async function capture({ socket, clock, size }: CaptureOptions): Promise<Captured> {
  const follower = new ScreenFollower();
  const { promise, resolve } = Promise.withResolvers<Captured>();
  const otherwise = (ending: Captured) => {
    const { grid } = follower;
    resolve(grid === null ? ending : { kind: "screen", grid });
  };
  using _longest = clock.after(
    longestMs,
    () => otherwise({ kind: "closed", code: 0, reason: `no picture within ${longestMs / 1000} s` }),
  );
  let quiet: Disposable | null = null;
  socket.onText((text) => {
    const received = follower.receive(text);
    if (received.kind === "exit") return otherwise({ kind: "absent" });
    for (const frame of received.send) socket.send(JSON.stringify(frame));
    quiet?.[Symbol.dispose]();
    if (received.kind === "screen") {
      quiet = clock.after(quietMs, () => resolve({ kind: "screen", grid: received.grid }));
    }
  });
  socket.onClose((code, reason) => otherwise({ kind: "closed", code, reason }));
  socket.send(JSON.stringify({ type: "init", ...size }));
  const captured = await promise;
  (quiet as Disposable | null)?.[Symbol.dispose]();
  socket.close(terminalClose.normal.code, "");
  return captured;
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

/** Clients of a terminal route: one that follows the screen, and how a raw one was closed. */
import assert from "node:assert/strict";
import type { Socket } from "../../shared/http/socket.ts";
import { ScreenFollower } from "../../shared/terminal/client.ts";
import type { ClientFrame } from "../../shared/terminal/protocol.ts";
import { type RawClient, until } from "../support/listen_support.ts";

export interface Close {
  readonly code: number;
  readonly reason: string;
}

/** A client that follows and acknowledges. */
export class GridClient {
  readonly follower = new ScreenFollower();
  frames = 0;
  exitCode: number | null = null;
  closed: Close | null = null;

  constructor(readonly socket: Socket) {
    socket.onText((text) => {
      this.frames += 1;
      const received = this.follower.receive(text);
      if (received.kind === "exit") this.exitCode = received.code;
      else for (const frame of received.send) this.send(frame);
    });
    socket.onBinary(() => assert.fail("a binary message"));
    socket.onClose((code, reason) => this.closed = { code, reason });
  }

  send(frame: ClientFrame): void {
    this.socket.send(JSON.stringify(frame));
  }
  type(data: string): void {
    this.send({ type: "input", data });
  }
  get text(): string {
    const { grid } = this.follower;
    return grid === null ? "" : grid.lines.map((_, y) => grid.text(y)).join("\n").trimEnd();
  }
  async shows(text: string, withinMs = 20_000): Promise<void> {
    await until(
      `${text} on the screen`,
      () => this.text.includes(text),
      withinMs,
    )
      .catch((thrown) =>
        assert.fail(
          `${thrown.message}\n${JSON.stringify(this.closed)}\n${this.text}`,
        )
      );
  }
  async closes(withinMs = 20_000): Promise<Close> {
    await until("the terminal closes", () => this.closed !== null, withinMs);
    return this.closed!;
  }
}

/** The close frame among the bytes that a raw client has received after the upgrade's answer. */
export function closeFrameOf(client: RawClient): Close | null {
  const bytes = client.received;
  const head = bytes.indexOf("\r\n\r\n");
  if (head < 0) return null;
  let at = head + 4;
  while (at + 2 <= bytes.length) {
    const opcode = bytes[at]! & 15;
    let length = bytes[at + 1]! & 127;
    let start = at + 2;
    if (length === 126 && at + 4 <= bytes.length) {
      length = bytes.readUInt16BE(at + 2);
      start = at + 4;
    } else if (length === 127 && at + 10 <= bytes.length) {
      length = Number(bytes.readBigUInt64BE(at + 2));
      start = at + 10;
    }
    if (start + length > bytes.length) return null;
    if (opcode === 8) {
      const payload = bytes.subarray(start, start + length);
      if (length === 0) return { code: 1005, reason: "" };
      return {
        code: payload.readUInt16BE(0),
        reason: payload.subarray(2).toString(),
      };
    }
    at = start + length;
  }
  return null;
}

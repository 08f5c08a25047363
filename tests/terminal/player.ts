/** A session that shows bytes on demand, and says when it is through with them. */
import type { ClientFrame } from "../../shared/terminal/protocol.ts";

/** Ends whatever a stream of bytes left open, leaves the alternate screen, resets. */
const fresh = "\\030\\033\\\\\\033[?1049l\\033c";

/**
 * A line for `sh`: at every line that is typed, a reset, then `folder`'s `play` and `title`. What tmux
 * answers to the bytes is typed as well, and becomes part of the next line.
 */
export const playerLine = (folder: string) =>
  `stty raw -echo; while IFS= read -r line; do printf '${fresh}'; ` +
  `cat ${folder}/play ${folder}/title; done`;

export interface Playing {
  send(frame: ClientFrame): void;
}

export class Player {
  #played = 0;
  constructor(private readonly folder: string) {}

  /** Has `bytes` shown on a fresh screen; returns the title that says that they are through. */
  async play(client: Playing, bytes: string | Uint8Array): Promise<string> {
    const title = `played ${++this.#played}`;
    const { folder } = this;
    // Renamed into place: a play may be under way.
    const put = async (name: string, content: string | Uint8Array) => {
      await Deno.writeFile(
        `${folder}/${name}.new`,
        typeof content === "string" ? new TextEncoder().encode(content) : content,
      );
      await Deno.rename(`${folder}/${name}.new`, `${folder}/${name}`);
    };
    await put("play", bytes);
    await put("title", `\x18\x1b\\\x1b]2;${title}\x1b\\`);
    client.send({ type: "input", data: "\n" });
    return title;
  }
}

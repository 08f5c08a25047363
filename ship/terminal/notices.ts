/** Gathers what a session does beside its screen, until a frame takes it along. */
import type xterm from "@xterm/headless";
import { clipboardRequest, noNotices, type Notices } from "../../shared/terminal/notices.ts";

const oscClipboard = 52;

/** A flood of bells is one bell, and of many texts the newest counts. */
export class NoticeWatch {
  #waiting: Notices = noNotices;

  constructor(terminal: xterm.Terminal) {
    terminal.onBell(() => this.#ring());
    terminal.parser.registerOscHandler(oscClipboard, (data) => {
      this.#clipboard(data);
      return true;
    });
  }

  /** What happened since the last call. */
  take(): Notices {
    const taken = this.#waiting;
    this.#waiting = noNotices;
    return taken;
  }

  #ring(): void {
    this.#waiting = { ...this.#waiting, bell: true };
  }

  #clipboard(data: string): void {
    const request = clipboardRequest(data);
    if (request.kind === "text") this.#waiting = { ...this.#waiting, clipboard: request.text };
    // The clipboard stays as it was; half of a text would be worse. The bell says that it failed.
    else if (request.kind === "too large") this.#ring();
  }
}

/** The warning of a bridge that asks nobody who they are. */
import type { Clock } from "../../shared/clock.ts";

const repeatMs = 60_000;

export const insecureBannerText = "=== INSECURE: this bridge runs without authentication. " +
  "Everyone who can reach it is an admin. Restart it without --insecure-no-auth " +
  "(GRID_INSECURE_NO_AUTH, bridge.insecureNoAuth) to require sign-in. ===";

/** Writes the banner now and every minute until disposed. */
export class InsecureBanner implements Disposable {
  #timer: Disposable | null = null;

  constructor(private readonly clock: Clock, private readonly write: (line: string) => void) {}

  start(): void {
    this.write(insecureBannerText);
    this.#timer = this.clock.after(repeatMs, () => this.start());
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
  }
}

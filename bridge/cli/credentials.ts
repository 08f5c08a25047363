/** Who the command line is to the bridge: `GRID_TOKEN`, else the stored session, else nobody. */
import type { SessionFile, StoredSession } from "./session_file.ts";

export type Credential =
  /** `GRID_TOKEN`: it wins, and nothing here replaces it. */
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "session"; readonly session: StoredSession }
  | { readonly kind: "none" };

export interface CredentialsOptions {
  readonly bridgeUrl: string;
  /** `GRID_TOKEN`. */
  readonly token: string | undefined;
  readonly file: SessionFile;
  /** Signs in anew after `ended` was refused; null when there is nobody to ask. */
  readonly signInAgain: (ended: StoredSession) => Promise<StoredSession | null>;
}

/** The credential of one invocation, read when it is first needed. Throws what `SessionFile` throws. */
export class Credentials {
  #current: Promise<Credential> | null = null;
  #renewal: Promise<Credential | null> | null = null;

  constructor(private readonly options: CredentialsOptions) {}

  current(): Promise<Credential> {
    return this.#current ??= this.#load();
  }

  /**
   * What to try after the bridge answered 401 to `refused`: a session that is not known to be bad, or
   * null. A refused session is discarded. Calls at the same time share one new sign-in.
   */
  async renew(refused: Credential): Promise<Credential | null> {
    if (refused.kind !== "session") return null;
    const current = await this.current();
    if (this.#renewal === null && secretOf(current) !== secretOf(refused)) {
      return current.kind === "session" ? current : null;
    }
    this.#renewal ??= this.#replace(refused.session).finally(() => this.#renewal = null);
    return await this.#renewal;
  }

  /** Stores a new session; without `GRID_TOKEN` calls carry it from now on. */
  async keep(session: StoredSession): Promise<void> {
    await this.options.file.write(this.options.bridgeUrl, session);
    if (this.options.token === undefined) this.#set({ kind: "session", session });
  }

  /** The session in the file, whether or not `GRID_TOKEN` hides it. */
  async stored(): Promise<StoredSession | null> {
    return await this.options.file.read(this.options.bridgeUrl);
  }

  /** Takes the stored session out of the file, when it is the one with `token`. */
  async discard(token: string): Promise<void> {
    await this.options.file.remove(this.options.bridgeUrl, token);
    if (this.options.token === undefined) this.#set({ kind: "none" });
  }

  async #load(): Promise<Credential> {
    const { token } = this.options;
    if (token !== undefined) return { kind: "token", token };
    const session = await this.stored();
    return session === null ? { kind: "none" } : { kind: "session", session };
  }

  async #replace(ended: StoredSession): Promise<Credential | null> {
    await this.discard(ended.token);
    // Another process may have signed in since this one read the file.
    const other = await this.stored();
    const session = other ?? await this.options.signInAgain(ended);
    if (session === null) return null;
    if (other === null) await this.keep(session);
    return this.#set({ kind: "session", session });
  }

  #set(credential: Credential): Credential {
    this.#current = Promise.resolve(credential);
    return credential;
  }
}

/** The token of a credential, or null. */
export function secretOf(credential: Credential): string | null {
  switch (credential.kind) {
    case "token":
      return credential.token;
    case "session":
      return credential.session.token;
    case "none":
      return null;
  }
}

/** What a call with this credential carries. */
export function bearer(credential: Credential): Readonly<Record<string, string>> {
  const secret = secretOf(credential);
  return secret === null ? {} : { authorization: `Bearer ${secret}` };
}

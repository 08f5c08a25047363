/** Who the command line is to the bridge: the one place where a stored session will come in. */

export interface Credentials {
  /** The session token, or null to go without. */
  token(): string | null;
  /** What each call carries. */
  headers(): Readonly<Record<string, string>>;
}

/** Credentials from `GRID_TOKEN` alone. */
export function tokenCredentials(token: string | undefined): Credentials {
  const headers: Record<string, string> = token === undefined
    ? {}
    : { authorization: `Bearer ${token}` };
  return { token: () => token ?? null, headers: () => headers };
}

/** Looks at ports before a daemon is started on them; the daemons' own door is `listen.ts`. */

/** True when `port` can be bound on `hostname` right now. Other failures than "in use" are thrown. */
export function portIsFree(hostname: string, port: number): boolean {
  try {
    Deno.listen({ hostname, port }).close();
    return true;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.AddrInUse) return false;
    throw thrown;
  }
}

/** A port that was free a moment ago, for where a port must be known before its daemon runs. */
export function freePort(hostname: string): number {
  const listener = Deno.listen({ hostname, port: 0 });
  try {
    return listener.addr.port;
  } finally {
    listener.close();
  }
}

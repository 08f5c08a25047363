/** Names to addresses, as the host's own resolver has them (`/etc/hosts` included). */
import { lookup } from "node:dns/promises";

export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** Every address of `hostname`; none when it cannot be resolved: connecting will then say so. */
export const resolveHost: Resolve = async (hostname) => {
  try {
    return (await lookup(hostname, { all: true })).map(({ address }) => address);
  } catch {
    return [];
  }
};

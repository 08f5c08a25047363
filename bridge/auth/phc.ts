/**
 * PHC strings of Argon2id, `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<tag>` with base64 that has no padding
 * (https://github.com/P-H-C/phc-string-format).
 */

/** Memory in KiB, passes, and lanes. */
export interface Argon2Cost {
  readonly memoryKiB: number;
  readonly passes: number;
  readonly parallelism: number;
}

export interface PasswordHash extends Argon2Cost {
  readonly salt: Uint8Array<ArrayBuffer>;
  readonly tag: Uint8Array<ArrayBuffer>;
}

/**
 * Beyond these a stored string is damage, not a cost that somebody chose: computing it could take the
 * machine's memory.
 */
export const costMax: Argon2Cost = { memoryKiB: 1024 * 1024, passes: 64, parallelism: 16 };
const bytesMax = 64;

export function encodePhc(hash: PasswordHash): string {
  const { memoryKiB, passes, parallelism } = hash;
  return `$argon2id$v=19$m=${memoryKiB},t=${passes},p=${parallelism}` +
    `$${hash.salt.toBase64({ omitPadding: true })}$${hash.tag.toBase64({ omitPadding: true })}`;
}

const shape =
  /^\$argon2id\$v=19\$m=([1-9]\d{0,9}),t=([1-9]\d{0,9}),p=([1-9]\d{0,9})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** The parts of `text`, or null when it is no Argon2id string within the bounds of RFC 9106 and ours. */
export function parsePhc(text: string): PasswordHash | null {
  const match = shape.exec(text);
  if (match === null) return null;
  const [memoryKiB, passes, parallelism] = match.slice(1, 4).map(Number) as [
    number,
    number,
    number,
  ];
  const salt = decode(match[4] ?? "");
  const tag = decode(match[5] ?? "");
  if (salt === null || tag === null) return null;
  const sound = memoryKiB >= 8 * parallelism && memoryKiB <= costMax.memoryKiB &&
    passes <= costMax.passes && parallelism <= costMax.parallelism &&
    salt.length >= 8 && salt.length <= bytesMax && tag.length >= 4 && tag.length <= bytesMax;
  return sound ? { memoryKiB, passes, parallelism, salt, tag } : null;
}

function decode(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.fromBase64(base64);
  } catch {
    return null;
  }
}

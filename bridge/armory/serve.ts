/** The armory as its routes give it: the manifest, and one file at a time. */
import { join } from "node:path";
import { unsafePathRule } from "../../shared/armory_paths.ts";
import type { Clock } from "../../shared/clock.ts";
import { fail } from "../../shared/errors.ts";
import { readIfPresent } from "../../shared/host/files.ts";
import { displayText } from "../../shared/ids.ts";
import { limits } from "../../shared/limits.ts";
import type { Log } from "../../shared/log.ts";
import type { ArmoryFile, ArmoryManifest } from "../../shared/schema/armory.ts";
import { makeManifest, parseDotfileMap } from "./manifest.ts";
import { isListable, normalMode, sectionOf } from "./names.ts";
import { openFile, Scanner } from "./scan.ts";

export interface ArmoryOptions {
  /** Absolute; it need not exist. */
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Log;
}

export const dotfileMapName = "dotfile-map.json";

export class Armory {
  readonly directory: string;
  readonly #scanner: Scanner;
  #running: Promise<ArmoryManifest> | null = null;
  #next: Promise<ArmoryManifest> | null = null;

  constructor(options: ArmoryOptions) {
    this.directory = options.directory;
    this.#scanner = new Scanner(options);
  }

  /**
   * What the directory holds now. Whoever asks while a scan runs shares the one after it, which sees every
   * change made before they asked. Throws `invalidDotfileMap`, `armoryTooManyFiles`.
   */
  manifest(): Promise<ArmoryManifest> {
    if (this.#running === null) return this.#run();
    this.#next ??= this.#running.catch(() => {}).then(() => {
      this.#next = null;
      return this.#run();
    });
    return this.#next;
  }

  /** One listed file. Throws `unsafeArmoryPath`, `armoryFileNotFound`, `armoryFileTooLarge`. */
  async file(path: string): Promise<ArmoryFile> {
    const rule = unsafePathRule(path);
    if (rule !== null) {
      throw fail("unsafeArmoryPath", { path: displayText(path) }, { reason: `the path ${rule}` });
    }
    const section = sectionOf(path);
    if (section === null || !isListable(path)) throw fail("armoryFileNotFound", { path });
    const { bytes, mode } = await this.#read(path);
    const digest = await crypto.subtle.digest("SHA-256", bytes);
    const text = decodeText(bytes);
    return {
      path,
      section,
      size: bytes.length,
      sha256: new Uint8Array(digest).toHex(),
      mode,
      encoding: text === null ? "base64" : "utf8",
      contents: text ?? bytes.toBase64(),
    };
  }

  #run(): Promise<ArmoryManifest> {
    const running = this.#scan().finally(() => this.#running = null);
    this.#running = running;
    return running;
  }

  async #scan(): Promise<ArmoryManifest> {
    const file = join(this.directory, dotfileMapName);
    const text = await readIfPresent(file);
    const parsed = parseDotfileMap(text ?? "{}");
    if (!parsed.ok) throw fail("invalidDotfileMap", { file, faults: parsed.faults });
    return await makeManifest(await this.#scanner.scan(), parsed.map);
  }

  async #read(path: string): Promise<{ bytes: Uint8Array<ArrayBuffer>; mode: 0o755 | 0o644 }> {
    const whole = join(this.directory, path);
    if (!await this.#standsThere(whole, path)) throw fail("armoryFileNotFound", { path });
    const file = await openFile(whole);
    if (file === null) throw fail("armoryFileNotFound", { path });
    try {
      const info = await file.stat();
      if (!info.isFile) throw fail("armoryFileNotFound", { path });
      const limit = limits.armoryFileBytesMax;
      if (info.size > limit) throw fail("armoryFileTooLarge", { path, size: info.size, limit });
      const bytes = await readAtMost(file, info.size, limit);
      if (bytes === null) throw fail("armoryFileTooLarge", { path, size: limit + 1, limit });
      return { bytes, mode: normalMode(info.mode) };
    } finally {
      file.close();
    }
  }

  /** Whether `whole` is what it says: reached through no link below the armory. */
  async #standsThere(whole: string, path: string): Promise<boolean> {
    try {
      return await Deno.realPath(whole) === join(await Deno.realPath(this.directory), path);
    } catch (thrown) {
      if (thrown instanceof Deno.errors.NotFound || thrown instanceof Deno.errors.NotADirectory) {
        return false;
      }
      throw thrown;
    }
  }
}

/** The whole file, or null when it grew past `bytesMax` meanwhile. `size` is what it should have. */
async function readAtMost(
  file: Deno.FsFile,
  size: number,
  bytesMax: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  let bytes = new Uint8Array(size + 1);
  let length = 0;
  for (;;) {
    if (length === bytes.length) {
      const larger = new Uint8Array(Math.min(2 * length, bytesMax + 1));
      larger.set(bytes);
      bytes = larger;
    }
    const count = await file.read(bytes.subarray(length));
    if (count === null) return bytes.slice(0, length);
    length += count;
    if (length > bytesMax) return null;
  }
}

/** The bytes as UTF-8, a byte order mark kept; null when they are none. */
function decodeText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

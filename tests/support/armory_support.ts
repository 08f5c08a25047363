/** An armory on both sides: a scripted bridge that serves one from memory, and a ship's armory in a home of its own. */
import { dirname, join } from "node:path";
import { makeManifest } from "../../bridge/armory/manifest.ts";
import { systemClock } from "../../shared/clock.ts";
import { listen, type Listener } from "../../shared/host/listen.ts";
import { type ArmoryPlaces, armoryPlaces } from "../../shared/host/ship_places.ts";
import { type Log, silentLog } from "../../shared/log.ts";
import type { ArmoryEntry, ArmoryManifest, ArmorySection } from "../../shared/schema/armory.ts";
import { ShipArmory, type ShipArmoryOptions } from "../../ship/armory/armory.ts";
import { timeoutPath } from "./grid_support.ts";

export const lnPath = "/usr/bin/ln";

/** A bridge's two armory routes over files in memory; each answer can be replaced. */
export class MemoryArmory implements AsyncDisposable {
  readonly files = new Map<
    string,
    { readonly bytes: Uint8Array<ArrayBuffer>; readonly mode: number }
  >();
  dotfileMap: Record<string, string> = {};
  /** Paths asked for, `manifest` for the manifest. */
  readonly asked: string[] = [];
  readonly authorizations: Array<string | null> = [];
  /** The most file requests under way at once. */
  concurrentMax = 0;
  /** Replaces an answer; null lets it be. */
  answer: (what: string) => Promise<Response | null> | Response | null = () => null;
  /** Changes the manifest before it is sent. */
  // deno-lint-ignore no-explicit-any -- hostile manifests fit no type
  forge: (manifest: any) => unknown = (manifest) => manifest;
  #listener: Listener | null = null;
  #concurrent = 0;

  static async open(): Promise<MemoryArmory> {
    const armory = new MemoryArmory();
    armory.#listener = await listen({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request) => armory.#fetch(request),
    });
    return armory;
  }

  get url(): string {
    return this.#listener?.url ?? "";
  }

  put(path: string, contents: string | Uint8Array<ArrayBuffer>, mode = 0o644): void {
    const bytes = typeof contents === "string" ? new TextEncoder().encode(contents) : contents;
    this.files.set(path, { bytes, mode });
  }

  async manifest(): Promise<ArmoryManifest> {
    const entries = await Promise.all(
      [...this.files.keys()].sort().map((path) => this.#entry(path)),
    );
    return await makeManifest(entries, this.dotfileMap);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener?.shutdown();
  }

  async #entry(path: string): Promise<ArmoryEntry> {
    const { bytes, mode } = this.files.get(path)!;
    const digest = await crypto.subtle.digest("SHA-256", bytes);
    return {
      path,
      section: path.split("/")[0] as ArmorySection,
      size: bytes.length,
      sha256: new Uint8Array(digest).toHex(),
      mode: mode as 0o644,
    };
  }

  async #fetch(request: Request): Promise<Response> {
    const url = new URL(request.url);
    this.authorizations.push(request.headers.get("authorization"));
    const path = url.searchParams.get("path");
    this.asked.push(path ?? "manifest");
    if (path === null) {
      return await this.answer("manifest") ?? Response.json(this.forge(await this.manifest()));
    }
    this.#concurrent += 1;
    this.concurrentMax = Math.max(this.concurrentMax, this.#concurrent);
    try {
      const other = await this.answer(path);
      if (other !== null) return other;
      const file = this.files.get(path);
      if (file === undefined) return Response.json({ error: "SECRET not here" }, { status: 404 });
      return Response.json({
        ...await this.#entry(path),
        encoding: "base64",
        contents: file.bytes.toBase64(),
      });
    } finally {
      this.#concurrent -= 1;
    }
  }
}

/** A directory with a home and a state directory, both real paths; removed when disposed. */
export class ShipHome implements AsyncDisposable {
  private constructor(readonly root: string) {}

  static async make(): Promise<ShipHome> {
    const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "grid-armory-" }));
    await Deno.mkdir(join(root, "home"));
    return new ShipHome(root);
  }

  /** One that stands there already. */
  static at(root: string): ShipHome {
    return new ShipHome(root);
  }

  get home(): string {
    return join(this.root, "home");
  }
  get state(): string {
    return join(this.root, "state");
  }

  at(...parts: string[]): string {
    return join(this.home, ...parts);
  }

  async write(path: string, text: string): Promise<void> {
    await Deno.mkdir(dirname(this.at(path)), { recursive: true });
    await Deno.writeTextFile(this.at(path), text);
  }

  read(path: string): Promise<string> {
    return Deno.readTextFile(this.at(path));
  }

  places(given: { skillsDirs?: string[]; dotfileRoots?: string[] } = {}): ArmoryPlaces {
    return armoryPlaces({
      home: this.home,
      skillsDirs: given.skillsDirs ?? [],
      pluginsDirs: [],
      dotfileRoots: given.dotfileRoots ?? [],
    });
  }

  armory(given: Partial<ShipArmoryOptions> = {}): ShipArmory {
    return new ShipArmory({
      stateDirectory: this.state,
      places: this.places(),
      bridgeUrl: null,
      shipToken: null,
      authenticated: true,
      lane: { timeoutPath, environment: { PATH: "/usr/bin:/bin" } },
      lnPath,
      resolve: () => Promise.resolve([]),
      clock: systemClock,
      log: silentLog,
      ...given,
    });
  }

  /** Everything in the home: path to `-> target` of a link or `= text` of a file; folders that are empty too. */
  async tree(): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    const walk = async (path: string) => {
      let empty = true;
      for await (const { name, isDirectory, isSymlink } of Deno.readDir(join(this.home, path))) {
        empty = false;
        const inside = path === "" ? name : `${path}/${name}`;
        if (isSymlink) found[inside] = `-> ${await Deno.readLink(this.at(inside))}`;
        else if (isDirectory) await walk(inside);
        else found[inside] = `= ${await this.read(inside)}`;
      }
      if (empty && path !== "") found[path] = "empty";
    };
    await walk("");
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.root, { recursive: true });
  }
}

/** A log that keeps its warnings and errors. */
export function keptLog(): { readonly log: Log; readonly lines: string[] } {
  const lines: string[] = [];
  const keep = (message: string, fields = {}) =>
    void lines.push(`${message} ${JSON.stringify(fields)}`);
  return { lines, log: { info() {}, warn: keep, error: keep } };
}

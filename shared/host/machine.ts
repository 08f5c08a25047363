/** What this process and its host are called, and directories to work in. */
import { join } from "node:path";

export function hostName(): string {
  return Deno.hostname();
}

export function workingDirectory(): string {
  return Deno.cwd();
}

/** The running program: `deno`, or the compiled binary itself. */
export function runningProgram(): { readonly path: string; readonly standalone: boolean } {
  return { path: Deno.execPath(), standalone: Deno.build.standalone };
}

/** Makes `path` and what is missing above it; gives its real path, as permission flags want it. */
export async function makeDirectory(path: string): Promise<string> {
  await Deno.mkdir(path, { recursive: true });
  return await Deno.realPath(path);
}

/** A directory of its own that is removed, with all it holds, when it is disposed. */
export class TemporaryDirectory implements AsyncDisposable {
  private constructor(readonly path: string, private readonly keep: boolean) {}

  /** `keep` leaves it in place when disposed. */
  static async make(prefix: string, keep: boolean): Promise<TemporaryDirectory> {
    const path = await Deno.realPath(await Deno.makeTempDir({ prefix }));
    return new TemporaryDirectory(path, keep);
  }

  /** Makes a directory below it. */
  async directory(name: string): Promise<string> {
    const path = join(this.path, name);
    await Deno.mkdir(path, { recursive: true, mode: 0o700 });
    return path;
  }

  /** Writes a file below it, directories included. */
  async write(name: string, text: string): Promise<void> {
    const path = join(this.path, name);
    await Deno.mkdir(join(path, ".."), { recursive: true });
    await Deno.writeTextFile(path, text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.keep) await Deno.remove(this.path, { recursive: true });
  }
}

/** The version of Deno that runs this, such as `2.9.6`. */
export function runtimeVersion(): string {
  return Deno.version.deno;
}

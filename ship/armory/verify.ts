/** Checks each byte that came from the bridge before anything is done with it. */
import { fail } from "../../shared/errors.ts";
import type { ArmoryEntry, ArmoryFile, ArmoryManifest } from "../../shared/schema/armory.ts";
import { brokenManifestRule } from "./policy.ts";

/** Throws `armoryPullFailed` with what is wrong with the manifest. */
export function assertManifest(manifest: ArmoryManifest): void {
  const rule = brokenManifestRule(manifest);
  if (rule !== null) {
    throw fail("armoryPullFailed", { why: `the armory manifest is refused: ${rule}` });
  }
}

/** The bytes of a file that is what its entry says. Throws `armoryPullFailed`. */
export async function verifiedBytes(
  entry: ArmoryEntry,
  file: ArmoryFile,
): Promise<Uint8Array<ArrayBuffer>> {
  const refuse = (what: string) =>
    fail("armoryPullFailed", { why: `the armory file ${entry.path} is refused: ${what}` });
  if (file.path !== entry.path) throw refuse("the bridge answered with another file");
  const bytes = bytesOf(file);
  if (bytes === null) throw refuse("its contents are not base64");
  if (bytes.length !== entry.size) {
    throw refuse(`it has ${bytes.length} bytes where the manifest says ${entry.size}`);
  }
  if (await sha256Of(bytes) !== entry.sha256) {
    throw refuse("its bytes do not match the sha256 of the manifest");
  }
  return bytes;
}

function bytesOf({ encoding, contents }: ArmoryFile): Uint8Array<ArrayBuffer> | null {
  if (encoding === "utf8") return new TextEncoder().encode(contents);
  try {
    return Uint8Array.fromBase64(contents, { lastChunkHandling: "strict" });
  } catch {
    return null;
  }
}

/** In lowercase hex. */
async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

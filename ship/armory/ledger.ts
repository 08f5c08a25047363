/** What this ship has put into other people's directories: nothing else there is ever replaced or removed. */
import { join } from "node:path";
import { z } from "zod";
import { JsonFile } from "../../shared/host/json_file.ts";
import { armorySectionSchema } from "../../shared/schema/armory.ts";

const linkSchema = z.object({
  destination: z.string(),
  target: z.string(),
  section: armorySectionSchema,
  path: z.string(),
});

const ledgerSchema = z.object({
  links: z.array(linkSchema),
  /** Folders made for links; removed again once they are empty. */
  folders: z.array(z.string()),
});
export type Ledger = z.infer<typeof ledgerSchema>;

/**
 * The ledger on disk. It is written before a link is made and after one is gone, so that it may list what is
 * not there, and never misses what is.
 */
export class LedgerFile {
  readonly #file: JsonFile<typeof ledgerSchema>;
  #written: string | null = null;

  constructor(directory: string) {
    const path = join(directory, "armory-ledger.json");
    this.#file = new JsonFile({ path, version: 1, key: "installed", schema: ledgerSchema });
  }

  /** Throws `StoredFileError`. */
  async read(): Promise<Ledger> {
    const ledger = await this.#file.read() ?? { links: [], folders: [] };
    this.#written = JSON.stringify(ledger);
    return ledger;
  }

  /** Throws `storageFailed`. */
  async write(ledger: Ledger): Promise<void> {
    const text = JSON.stringify(ledger);
    if (text === this.#written) return;
    await this.#file.write(ledger);
    this.#written = text;
  }
}

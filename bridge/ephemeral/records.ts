/** The records of ephemeral workspaces, kept in `ephemeral.json`. Memory changes only once the file has. */
import { join } from "node:path";
import { z } from "zod";
import { fail } from "../../shared/errors.ts";
import { JsonFile, StoredFileError } from "../../shared/host/json_file.ts";
import { Semaphore } from "../../shared/host/semaphore.ts";
import { type WorkspaceId, workspaceKey } from "../../shared/ids.ts";
import { ephemeralSchema, type EphemeralWorkspace } from "../../shared/schema/ephemeral.ts";
import type { EphemeralRecords } from "../routing/ephemeral_records.ts";

const queueMax = 256;

type OfShip = WorkspaceId & { readonly ship: string };

export class EphemeralStore implements EphemeralRecords {
  readonly #path: string;
  readonly #file;
  readonly #turn = new Semaphore(1, queueMax);
  #records: readonly EphemeralWorkspace[] = [];

  constructor(dataDirectory: string) {
    this.#path = join(dataDirectory, "ephemeral.json");
    this.#file = new JsonFile({
      path: this.#path,
      version: 1,
      key: "workspaces",
      schema: z.array(ephemeralSchema),
    });
  }

  /** Reads the file. Throws `StoredFileError`. */
  async start(): Promise<void> {
    const records = await this.#file.read() ?? [];
    records.forEach((record, index) => {
      if (records.findIndex((other) => isOf(other, record)) === index) return;
      throw new StoredFileError(this.#path, `workspaces.${index}`, "stands there twice");
    });
    this.#records = records;
  }

  get all(): readonly EphemeralWorkspace[] {
    return this.#records;
  }

  of(workspace: OfShip): EphemeralWorkspace | null {
    return this.#records.find((record) => isOf(record, workspace)) ?? null;
  }

  /** Adds the record, in place of one for the same workspace. Throws `storageFailed`, `tooBusy`. */
  async add(record: EphemeralWorkspace): Promise<void> {
    await this.#change((records) => [...records.filter((one) => !isOf(one, record)), record]);
  }

  /**
   * Puts `next` in the place of `record`, or takes it away when null; without effect when the record is no
   * longer the one that is kept. Throws `storageFailed`, `tooBusy`.
   */
  async replace(record: EphemeralWorkspace, next: EphemeralWorkspace | null): Promise<void> {
    await this.#change((records) => {
      if (!records.includes(record)) return records;
      return records.flatMap((one) => one !== record ? [one] : next === null ? [] : [next]);
    });
  }

  /** Forgets what is kept of the workspace, on whatever ship. Throws `storageFailed`, `tooBusy`. */
  async forget(id: WorkspaceId): Promise<void> {
    const key = workspaceKey(id);
    await this.#change((records) =>
      records.some((one) => workspaceKey(one) === key)
        ? records.filter((one) => workspaceKey(one) !== key)
        : records
    );
  }

  async #change(
    next: (records: readonly EphemeralWorkspace[]) => readonly EphemeralWorkspace[],
  ): Promise<void> {
    using turn = await this.#turn.acquire();
    if (turn === null) throw fail("tooBusy", { what: "changes of ephemeral records" });
    const records = next(this.#records);
    if (records === this.#records) return;
    await this.#file.write([...records]);
    this.#records = records;
  }
}

const isOf = (record: EphemeralWorkspace, other: OfShip) =>
  workspaceKey(record) === workspaceKey(other) && record.ship === other.ship;

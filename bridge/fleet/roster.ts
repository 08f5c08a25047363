/** The registered ships, kept in `ships.json`. */
import { z } from "zod";
import { JsonFile, StoredFileError } from "../../shared/host/json_file.ts";
import type { ShipName } from "../../shared/ids.ts";
import { type ShipRecord, shipRecordSchema } from "../../shared/schema/ship.ts";

/** Memory changes only once the file has; its owner makes one change at a time. */
export class Roster {
  readonly #file;
  #ships: readonly ShipRecord[] = [];

  constructor(private readonly path: string) {
    this.#file = new JsonFile({
      path,
      version: 1,
      key: "ships",
      schema: z.array(shipRecordSchema),
    });
  }

  /** Reads the file. Throws `StoredFileError`. */
  async load(): Promise<void> {
    const ships = await this.#file.read() ?? [];
    const twice = ships.findIndex((ship, index) =>
      ships.findIndex(({ name }) => name === ship.name) !== index
    );
    if (twice !== -1) {
      throw new StoredFileError(this.path, `ships.${twice}.name`, "stands there twice");
    }
    this.#ships = sorted(ships);
  }

  /** By name. */
  get ships(): readonly ShipRecord[] {
    return this.#ships;
  }

  has(name: ShipName): boolean {
    return this.#ships.some((ship) => ship.name === name);
  }

  /** Throws `storageFailed`; then nothing has changed. */
  async add(ship: ShipRecord): Promise<void> {
    await this.#replace([...this.#ships, ship]);
  }

  /** Throws `storageFailed`; then nothing has changed. */
  async remove(name: ShipName): Promise<void> {
    await this.#replace(this.#ships.filter((ship) => ship.name !== name));
  }

  async #replace(ships: readonly ShipRecord[]): Promise<void> {
    const next = sorted(ships);
    await this.#file.write([...next]);
    this.#ships = next;
  }
}

function sorted(ships: readonly ShipRecord[]): readonly ShipRecord[] {
  return ships.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** What cells are made of besides a code point: styles, clusters and links, each by a number of its own. */
import { colorDefault } from "./protocol.ts";

export interface Style {
  readonly fg: number;
  readonly bg: number;
  readonly flags: number;
  readonly underlineColor: number;
  /** Index into the links of the same `Inks`; 0 is none. */
  readonly link: number;
}
export const plain: Style = {
  fg: colorDefault,
  bg: colorDefault,
  flags: 0,
  underlineColor: colorDefault,
  link: 0,
};

/** What a cell's code says besides a code point: two cells wide, an interned cluster, a second half. */
export const cell = {
  blank: 0x20,
  valueMask: 0xffffff,
  wide: 1 << 24,
  cluster: 1 << 25,
  secondHalf: 1 << 26,
} as const;

/** Styles, clusters and links by number. Style 0 is `plain`, link 0 none. */
export class Inks {
  readonly clusters: string[] = [];
  readonly links: string[] = [""];
  readonly #styles = new StyleTable();
  readonly #clusterOf = new Map<string, number>();
  readonly #linkOf = new Map<string, number>([["", 0]]);

  constructor() {
    this.style(plain);
  }

  style({ fg, bg, flags, underlineColor, link }: Style): number {
    return this.#styles.index(fg, bg, flags, underlineColor, link);
  }

  /** The number of a style that says nothing of underlines and links, without making a `Style` of it. */
  simpleStyle(fg: number, bg: number, flags: number): number {
    return this.#styles.index(fg, bg, flags, colorDefault, 0);
  }

  /** Throws when there is no style of that number. */
  styleAt(index: number): Style {
    return this.#styles.at(index);
  }

  /** The code of a cell that holds `text`, one code point or a cluster, `width` 1 or 2. */
  code(text: string, width: number): number {
    const wide = width === 2 ? cell.wide : 0;
    const first = text.codePointAt(0) ?? cell.blank;
    if (text.length === (first > 0xffff ? 2 : 1)) return first | wide;
    let index = this.#clusterOf.get(text);
    if (index === undefined) {
      index = this.clusters.push(text) - 1;
      this.#clusterOf.set(text, index);
    }
    return index | cell.cluster | wide;
  }

  link(uri: string): number {
    const known = this.#linkOf.get(uri);
    if (known !== undefined) return known;
    this.#linkOf.set(uri, this.links.length);
    return this.links.push(uri) - 1;
  }

  /** What `code` shows; empty for the second half of a wide cell. */
  text(code: number): string {
    if (code & cell.secondHalf) return "";
    const value = code & cell.valueMask;
    return code & cell.cluster ? this.clusters[value] ?? " " : String.fromCodePoint(value);
  }

  /** How much is interned: what a holder with a long life bounds. */
  get size(): number {
    return Math.max(this.#styles.size, this.clusters.length, this.links.length);
  }
}

const numbersPerStyle = 5;
const stylesPerChunkLog2 = 10;
const shardsLog2 = 6;
const shardSlotsMin = 8;

/**
 * Styles as numbers in typed arrays, found by hashing (open addressing, linear probing). A screen whose every cell
 * has its own colour holds half a million of them: as objects in a `Map` they held the event loop for a tenth of a
 * second whenever the map grew or the collector looked at them. So nothing here grows as a whole: numbers stand in
 * chunks, slots in shards that grow one by one.
 */
class StyleTable {
  size = 0;
  readonly #chunks: Int32Array[] = [];
  /** Index + 1 of the style in each slot; 0 is a free one. */
  readonly #shards: (Int32Array | undefined)[] = Array.from({ length: 1 << shardsLog2 });
  readonly #taken = new Uint32Array(1 << shardsLog2);

  index(fg: number, bg: number, flags: number, underlineColor: number, link: number): number {
    const hash = hashOf(fg, bg, flags, underlineColor, link);
    const shard = hash & ((1 << shardsLog2) - 1);
    const slots = this.#shards[shard] ??= new Int32Array(shardSlotsMin);
    let slot = slotOf(hash, slots);
    for (let entry = slots[slot]!; entry !== 0; entry = slots[slot]!) {
      if (this.#holds(entry - 1, fg, bg, flags, underlineColor, link)) return entry - 1;
      slot = (slot + 1) & (slots.length - 1);
    }
    const index = this.#add(fg, bg, flags, underlineColor, link);
    slots[slot] = index + 1;
    if (++this.#taken[shard]! >= slots.length * fullness(shard)) this.#grow(shard, slots);
    return index;
  }

  at(index: number): Style {
    if (index >= this.size) throw new Error(`style ${index} of ${this.size}`);
    const chunk = this.#chunks[index >> stylesPerChunkLog2]!;
    const at = placeOf(index);
    return {
      fg: chunk[at]!,
      bg: chunk[at + 1]!,
      flags: chunk[at + 2]!,
      underlineColor: chunk[at + 3]!,
      link: chunk[at + 4]!,
    };
  }

  #holds(
    index: number,
    fg: number,
    bg: number,
    flags: number,
    underlineColor: number,
    link: number,
  ): boolean {
    const chunk = this.#chunks[index >> stylesPerChunkLog2]!;
    const at = placeOf(index);
    return chunk[at] === fg && chunk[at + 1] === bg && chunk[at + 2] === flags &&
      chunk[at + 3] === underlineColor && chunk[at + 4] === link;
  }

  #add(fg: number, bg: number, flags: number, underlineColor: number, link: number): number {
    const index = this.size++;
    if (index >> stylesPerChunkLog2 === this.#chunks.length) {
      this.#chunks.push(new Int32Array(numbersPerStyle << stylesPerChunkLog2));
    }
    const chunk = this.#chunks[index >> stylesPerChunkLog2]!;
    const at = placeOf(index);
    chunk[at] = fg;
    chunk[at + 1] = bg;
    chunk[at + 2] = flags;
    chunk[at + 3] = underlineColor;
    chunk[at + 4] = link;
    return index;
  }

  #grow(shard: number, slots: Int32Array): void {
    const wider = new Int32Array(slots.length * 2);
    for (let from = 0; from < slots.length; from++) {
      const entry = slots[from]!;
      if (entry === 0) continue;
      let slot = slotOf(this.#hash(entry - 1), wider);
      while (wider[slot] !== 0) slot = (slot + 1) & (wider.length - 1);
      wider[slot] = entry;
    }
    this.#shards[shard] = wider;
  }

  #hash(index: number): number {
    const chunk = this.#chunks[index >> stylesPerChunkLog2]!;
    const at = placeOf(index);
    return hashOf(chunk[at]!, chunk[at + 1]!, chunk[at + 2]!, chunk[at + 3]!, chunk[at + 4]!);
  }
}

/** How full a shard may be: from a third to two thirds, so that they do not all grow at the same time. */
const fullness = (shard: number) => (1 + shard / (1 << shardsLog2)) / 3;

/** Where a style's numbers begin in its chunk. */
const placeOf = (index: number) => (index & ((1 << stylesPerChunkLog2) - 1)) * numbersPerStyle;
const slotOf = (hash: number, slots: Int32Array) => (hash >>> shardsLog2) & (slots.length - 1);

/** A multiplicative mix; the finalizer is that of MurmurHash3 (Austin Appleby, public domain). */
function hashOf(
  fg: number,
  bg: number,
  flags: number,
  underlineColor: number,
  link: number,
): number {
  let hash = Math.imul(fg, 0x9e3779b1) ^ Math.imul(bg, 0x85ebca77) ^ Math.imul(flags, 0xc2b2ae3d) ^
    Math.imul(underlineColor, 0x27d4eb2f) ^ Math.imul(link, 0x165667b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The canonical branch name of an issue. Pure. */
import { limits } from "../../shared/limits.ts";

/** Letters that Unicode does not take apart into a base and a mark. */
const plain: Readonly<Record<string, string>> = {
  "ß": "ss",
  "æ": "ae",
  "œ": "oe",
  "ø": "o",
  "đ": "d",
  "ð": "d",
  "ħ": "h",
  "ı": "i",
  "ł": "l",
  "þ": "th",
};

/**
 * `<number>-<slug of title>`, at most 60 characters: lower-case ASCII letters and digits with single dashes
 * between. Accents are taken off (NFKD); what has no ASCII form is dropped. The number alone when nothing
 * of the title is left.
 */
export function issueBranchName(number: number, title: string): string {
  const slug = title.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "")
    .replace(/\P{ASCII}/gu, (letter) => plain[letter] ?? letter)
    // An apostrophe joins what it stands between; everything else parts it.
    .replace(/['\u2018\u2019]/g, "").replace(/[^a-z0-9]+/g, "-").replace(/^-+/, "");
  return `${number}-${slug}`.slice(0, limits.issueBranchCharactersMax).replace(/-+$/, "");
}

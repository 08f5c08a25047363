/** Zod schemas of the identifiers, for fields that must already be valid when they arrive. */
import { z } from "zod";
import { brokenIdentifierRule, type Identifier, type IdentifierKind } from "../ids.ts";

function identifier<Kind extends IdentifierKind>() {
  return z.string().superRefine((text, context) => {
    const rule = brokenIdentifierRule(text);
    if (rule !== null) context.addIssue({ code: "custom", message: rule });
  }).transform((text) => text as Identifier<Kind>);
}

export const repoNameSchema = identifier<"repo">();
export const workspaceNameSchema = identifier<"workspace">();
export const shipNameSchema = identifier<"ship">();

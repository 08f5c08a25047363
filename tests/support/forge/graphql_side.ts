/** The GraphQL half of the test forge: executed against GitHub's published schema. */
import { schema as published } from "@octokit/graphql-schema";
import { buildSchema, execute, GraphQLError, type GraphQLSchema, parse, validate } from "graphql";
import { at, type ForgeIssue, type ForgeState } from "./state.ts";

let built: GraphQLSchema | null = null;
const schema = () => built ??= buildSchema(published.idl, { assumeValidSDL: true });

class Refused extends Error {
  constructor(readonly type: string, message: string) {
    super(message);
  }
}

const linkedNodes = (issue: ForgeIssue) => ({
  nodes: issue.linked.map((name) => ({ id: `LB_${name}`, ref: { id: `REF_${name}`, name } })),
});

function issueNode(issue: ForgeIssue, url: string) {
  return {
    id: `I_${issue.number}`,
    number: issue.number,
    title: issue.title,
    state: issue.state.toUpperCase(),
    body: issue.body,
    url: `${url}/issues/${issue.number}`,
    createdAt: at,
    updatedAt: at,
    author: { __typename: "User", login: "ada" },
    labels: { nodes: issue.labels.map((name) => ({ name })) },
    comments: ({ first }: { first: number }) => ({
      totalCount: issue.comments.length,
      nodes: issue.comments.slice(0, first).map(({ id, author, body }) => ({
        author: { __typename: "User", login: author },
        body,
        createdAt: at,
        url: `${url}/issues/${issue.number}#issuecomment-${id}`,
      })),
    }),
    linkedBranches: () => linkedNodes(issue),
  };
}

function root(state: ForgeState, webUrl: string) {
  const url = `${webUrl}/${state.owner}/${state.name}`;
  return {
    async repository({ owner, name }: { owner: string; name: string }) {
      if (owner !== state.owner || name !== state.name) {
        throw new Refused(
          "NOT_FOUND",
          `Could not resolve to a Repository with the name '${owner}/${name}'.`,
        );
      }
      const oid = await state.commit("refs/heads/main");
      return {
        id: "R_1",
        viewerPermission: state.permission,
        defaultBranchRef: oid === null
          ? null
          : { name: "main", target: { __typename: "Commit", oid } },
        issue: ({ number }: { number: number }) => {
          const issue = state.issues.get(number);
          if (issue !== undefined) return issueNode(issue, url);
          throw new Refused(
            "NOT_FOUND",
            `Could not resolve to an Issue with the number of ${number}.`,
          );
        },
      };
    },
    async createLinkedBranch({ input }: {
      input: { issueId: string; oid: string; name: string; repositoryId: string };
    }) {
      if (state.scopeMissing) {
        throw new Refused("FORBIDDEN", "Resource not accessible by personal access token");
      }
      if (state.refuseBranches !== null) throw new Refused("UNPROCESSABLE", state.refuseBranches);
      const issue = state.issues.get(Number(input.issueId.replace("I_", "")));
      if (issue === undefined) throw new Refused("NOT_FOUND", "no such issue");
      const name = state.rename(input.name);
      // GitHub gives no branch and no error when one of that name exists.
      if (!await state.createBranch(name, input.oid)) return { linkedBranch: null };
      issue.linked.push(name);
      return { linkedBranch: { id: `LB_${name}`, ref: { id: `REF_${name}`, name } } };
    },
  };
}

/** Answers a GraphQL request as GitHub does: 200, with `errors` that have a `type`. */
export async function answerGraphql(
  state: ForgeState,
  webUrl: string,
  request: { readonly query: string; readonly variables?: Record<string, unknown> },
): Promise<{ readonly body: unknown; readonly faults: string[] }> {
  const document = parse(request.query);
  const invalid = validate(schema(), document);
  if (invalid.length > 0) {
    const faults = invalid.map(({ message }) => `graphql: ${message}`);
    return { body: { errors: invalid.map(shown) }, faults };
  }
  const result = await execute({
    schema: schema(),
    document,
    rootValue: root(state, webUrl),
    variableValues: request.variables ?? {},
  });
  const errors = result.errors?.map(shown);
  const faults = (result.errors ?? []).filter(({ originalError }) =>
    !(originalError instanceof Refused)
  ).map(({ message }) => `graphql: ${message}`);
  return {
    body: { data: result.data ?? null, ...(errors === undefined ? {} : { errors }) },
    faults,
  };
}

function shown(error: GraphQLError) {
  const { originalError, message, path } = error;
  return originalError instanceof Refused
    ? { type: originalError.type, path, message }
    : { path, message };
}

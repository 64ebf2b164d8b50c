import { createGateway, type Gateway } from "keyhole";
import { createOpenApiSource, type OpenApiOptions } from "keyhole/sources";
import type { LoopbackApi } from "./loopback-api.ts";

const text = (type: string) => ({ content: { [type]: { schema: { type: "string" } } } });
const document = {
  openapi: "3.1.0",
  info: { title: "Pets", description: "Pets of a shop." },
  paths: {
    "/pets": {
      get: { operationId: "listPets", tags: ["pets"], summary: "List pets" },
      post: {
        operationId: "createPet",
        tags: ["pets"],
        requestBody: {
          required: true,
          content: {
            "application/json": {
              schema: {
                type: "object",
                properties: { name: { type: "string" }, age: { type: "integer" } },
                required: ["name"],
              },
            },
          },
        },
      },
    },
    "/pets/{id}": {
      parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
      get: {
        operationId: "getPet",
        tags: ["pets"],
        parameters: [
          {
            name: "fields",
            in: "query",
            explode: false,
            schema: { type: "array", items: { type: "string" } },
          },
          { name: "X-Trace", in: "header", schema: { type: "string" } },
          { name: "api_key", in: "query", schema: { type: "string" } },
          {
            name: "filter",
            in: "query",
            schema: { type: "object", additionalProperties: { type: "string" } },
          },
        ],
      },
      patch: {
        operationId: "updatePet",
        tags: ["pets"],
        parameters: [
          {
            name: "notify",
            in: "query",
            description: "Tell the owner.",
            schema: { type: "boolean", default: true },
          },
        ],
        requestBody: {
          content: {
            "application/json": {
              schema: {
                type: "object",
                properties: { name: { type: "string" }, isPublic: { type: "boolean", default: true } },
              },
            },
          },
        },
      },
      head: { operationId: "checkPet", tags: ["pets"] },
      delete: { operationId: "deletePet", tags: ["pets"] },
    },
    "/note": { put: { operationId: "putNote", requestBody: text("text/plain") } },
    "/blob": { put: { operationId: "putBlob", requestBody: text("application/octet-stream") } },
    "/form": {
      post: {
        operationId: "postForm",
        requestBody: {
          content: {
            "application/x-www-form-urlencoded": {
              schema: {
                type: "object",
                properties: { a: { type: "array" }, b: { type: "object" }, c: { type: "string" } },
              },
            },
          },
        },
      },
    },
    "/upload": {
      post: {
        operationId: "upload",
        requestBody: {
          content: {
            "multipart/form-data": {
              schema: {
                type: "object",
                properties: {
                  file: { type: "string", format: "binary" },
                  meta: { type: "object" },
                  title: { type: "string" },
                },
              },
            },
          },
        },
      },
    },
    "/elsewhere": { servers: [{ url: "https://other.example" }], get: { operationId: "elsewhere" } },
    "/outside": { get: { operationId: "outside", parameters: [{ $ref: "https://evil.example/p.json" }] } },
  },
};

/** Opens a gateway to a pet API on loopback. */
export function openPets(api: LoopbackApi, options: Partial<OpenApiOptions> = {}): Gateway {
  const source = createOpenApiSource("pets", {
    document,
    baseUrl: `${api.url}/v2`,
    allowPrivateHosts: ["127.0.0.1"],
    ...options,
  });
  const principal = { id: "me", scopes: [], allowWrite: true };
  return createGateway({ domains: [], sources: [source], principal, ask: "never" });
}

/** Runs a tool without a dry run. Returns its result or its error. */
export async function runPets(gateway: Gateway, op: string, args: Record<string, unknown> = {}) {
  const answer = await gateway.exec({ op, args, dryRun: false });
  return answer.ok ? { result: answer.result } : { error: answer.error };
}

/** Runs an op that must fail. Returns its problem. */
export async function problemOfPets(gateway: Gateway, op: string, args: Record<string, unknown> = {}) {
  const { error } = await runPets(gateway, op, args);
  return {
    code: error?.code,
    message: error?.message ?? "",
    next: error?.next ?? "",
    details: error?.details,
  };
}

// The part of LangChain's types that Keyhole uses, so that the project need not install LangChain.
// `npm run check -- LangChain` compares the code with the real types.
declare module "@langchain/core/tools" {
  export interface StructuredToolInterface {
    name: string;
    description: string;
    invoke(input: Record<string, unknown>, config?: { signal?: AbortSignal }): Promise<unknown>;
  }

  export class DynamicStructuredTool implements StructuredToolInterface {
    constructor(fields: {
      name: string;
      description: string;
      schema: Record<string, unknown>;
      func: (
        args: Record<string, unknown>,
        run: unknown,
        config?: { signal?: AbortSignal },
      ) => Promise<unknown>;
    });
    name: string;
    description: string;
    invoke(input: Record<string, unknown>, config?: { signal?: AbortSignal }): Promise<unknown>;
  }
}

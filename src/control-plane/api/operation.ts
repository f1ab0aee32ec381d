import type { Call } from '../../http/index.ts'
import type { ControlPlaneContext } from '../context.ts'
import type { Infer, JsonSchema } from '../schema/json-schema.ts'

/** One operation of the API, as data: its route, its checks and its page in the OpenAPI document follow from it. */
export interface OperationSpec {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With parameters as OpenAPI writes them, such as `/v2/deployments/{deployment_id}`. */
  readonly path: `/${string}`
  /** The heading that the document lists it under. */
  readonly tag?: string
  readonly summary: string
  readonly description?: string
  /** What the parameters of the path must be. Those that are left out take any text. */
  readonly params?: Members
  /** A query parameter that is a list may be given several times. */
  readonly query?: Members & { readonly required?: readonly string[] }
  /** Headers that it heeds, and what they do: for the document, they are not checked. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: JsonSchema
  /** Whether the body may be left out, which is then read as `{}`. */
  readonly bodyOptional?: boolean
  /** What it answers, by status: a schema of JSON, null for an empty body, or another media type. */
  readonly responses: Readonly<Record<number, JsonSchema | null | { readonly mediaType: string }>>
  /** A public operation is called without `authenticate`. */
  readonly isPublic?: boolean
  /** Left out of the document: what only old clients call. */
  readonly isHidden?: boolean
}

interface Members {
  readonly properties: Readonly<Record<string, JsonSchema>>
}

/** A request that was checked. */
export interface Input<S extends OperationSpec> {
  readonly params: ParamsOf<S>
  readonly query: S extends { readonly query: infer Q } ? Infer<Q> : Readonly<Record<string, never>>
  readonly body: S extends { readonly body: infer B } ? Infer<B> : undefined
  readonly call: Call
}

type ParamsOf<S extends OperationSpec> = {
  readonly [Name in NameIn<S['path']>]: S['params'] extends {
    readonly properties: { readonly [N in Name]: infer P }
  }
    ? Infer<P>
    : string
}

type NameIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NameIn<Rest>
  : never

/** What an operation answers: a value of JSON (null for an empty body) with its status, or a whole response. */
export type Reply =
  | Response
  | {
      /** Default: the first status of `responses`. */
      readonly status?: number
      readonly body?: unknown
      readonly headers?: Readonly<Record<string, string>>
    }

export interface Operation {
  readonly spec: OperationSpec
  readonly run: (context: ControlPlaneContext, input: Input<OperationSpec>) => Promise<Reply>
}

/* @__NO_SIDE_EFFECTS__ */
export function operation<const S extends OperationSpec>(
  spec: S,
  run: (context: ControlPlaneContext, input: Input<S>) => Promise<Reply>,
): Operation {
  return { spec, run: run as unknown as Operation['run'] }
}

/** Operations that the document lists under one heading. */
/* @__NO_SIDE_EFFECTS__ */
export const tagged = (tag: string, operations: readonly Operation[]): readonly Operation[] =>
  operations.map(({ spec, run }) => ({ spec: { ...spec, tag }, run }))

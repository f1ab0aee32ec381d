import type * as z from 'zod/mini'
import type { Call } from '../../core/http/index.ts'
import type { ControlPlaneContext } from '../context.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type AnyObject = z.ZodMiniObject<z.core.$ZodLooseShape, z.core.$ZodObjectConfig>

/**
 * The input and responses of an operation. Its validation and its OpenAPI description are derived from them.
 */
export interface OperationSpec {
  /** The heading that the document lists it under. */
  readonly tag?: string
  readonly description?: string
  /** Schemas of path parameters. A parameter without one accepts any text. */
  readonly params?: AnyObject
  /** A query parameter that is a list may be repeated. */
  readonly query?: AnyObject
  /** Headers that it reads, with descriptions for the document. They are not validated. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: z.ZodMiniType
  /** Whether the body may be omitted. It is then read as `{}`. */
  readonly bodyOptional?: boolean
  /** Responses by status: a schema for JSON, null for an empty body, or another media type. */
  readonly responses: Readonly<Record<number, z.ZodMiniType | null | { readonly mediaType: string }>>
  /** Statuses whose response is a string. */
  readonly errors?: readonly number[]
  /** A public operation is called without `authenticate`. */
  readonly isPublic?: boolean
  /** Left out of the document, for operations that only old clients call. */
  readonly isHidden?: boolean
}

/** A validated request. */
export interface Input<Route extends string, S extends OperationSpec> {
  readonly params: {
    readonly [Name in NameIn<Route>]: S extends { readonly params: infer P }
      ? Name extends keyof z.output<P>
        ? z.output<P>[Name]
        : string
      : string
  }
  readonly query: S extends { readonly query: infer Q } ? z.output<Q> : Readonly<Record<string, never>>
  readonly body: S extends { readonly body: infer B } ? z.output<B> : undefined
  readonly call: Call
}

type NameIn<Route extends string> = Route extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NameIn<Rest>
  : never

/**
 * The response of an operation: a JSON value (null for an empty body) with its status, or a complete
 * response.
 */
export type Reply =
  | Response
  | {
      /** Default: the first status of `responses`. */
      readonly status?: number
      readonly body?: unknown
      readonly headers?: Readonly<Record<string, string>>
    }

/** One operation of the API, as data. */
export interface Operation extends OperationSpec {
  readonly method: Method
  /** With parameters in OpenAPI's form, such as `/v2/deployments/{deployment_id}`. */
  readonly path: string
  readonly summary: string
  readonly run: (context: ControlPlaneContext, input: Input<string, OperationSpec>) => Promise<Reply>
}

/* @__NO_SIDE_EFFECTS__ */
export function operation<const Route extends `${Method} /${string}`, const S extends OperationSpec>(
  route: Route,
  summary: string,
  spec: S,
  run: (context: ControlPlaneContext, input: Input<Route, S>) => Promise<Reply>,
): Operation {
  const [method, path] = route.split(' ') as [Method, string]
  return { ...spec, method, path, summary, run: run as unknown as Operation['run'] }
}

/** Operations that the document lists under one heading. */
/* @__NO_SIDE_EFFECTS__ */
export const tagged = (tag: string, operations: readonly Operation[]): readonly Operation[] =>
  operations.map((one) => ({ ...one, tag }))

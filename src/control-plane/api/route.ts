import type * as z from 'zod/mini'
import type { Call, Method, RouteRow } from '../../core/http/index.ts'
import type { ControlPlaneContext } from '../context.ts'

export type AnyObject = z.ZodMiniObject<z.core.$ZodLooseShape, z.core.$ZodObjectConfig>

/** What an operation accepts and answers. Its validation and its OpenAPI description are derived from it. */
export interface OperationFields<Params, Query, Body> {
  readonly summary: string
  /** The heading that the document lists it under. */
  readonly tag?: string
  readonly description?: string
  /** Schemas of path parameters. A parameter without one accepts any text. */
  readonly params?: Params
  /** A query parameter that is a list may be repeated. */
  readonly query?: Query
  /** Headers that it reads, with descriptions for the document. They are not validated. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Body
  /** Whether the body may be omitted. It is then read as `{}`. */
  readonly bodyOptional?: boolean
  /** Answers by status: a schema for JSON, null for an empty body, or another media type. */
  readonly answers: Readonly<Record<number, z.ZodMiniType | null | { readonly mediaType: string }>>
  /** Statuses whose answer is a string. */
  readonly errors?: readonly number[]
  /** A public operation is called without `authenticate`. */
  readonly isPublic?: boolean
}

/** A validated request. */
export interface Input<Path extends string, Params, Query, Body> {
  readonly params: {
    readonly [Name in NameIn<Path>]: [Params] extends [never]
      ? string
      : Name extends keyof z.output<Params>
        ? z.output<Params>[Name]
        : string
  }
  readonly query: [Query] extends [never] ? Readonly<Record<string, never>> : z.output<Query>
  readonly body: [Body] extends [never] ? undefined : z.output<Body>
  readonly call: Call
}

type NameIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NameIn<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/** A JSON value (null for an empty body) with its status, or a complete response. */
export type Reply =
  | Response
  | {
      /** Default: the first status of `answers`. */
      readonly status?: number
      readonly body?: unknown
      readonly headers?: Readonly<Record<string, string>>
    }

/** One operation of the API, as data. */
export interface Operation
  extends RouteRow<
      Method,
      (context: ControlPlaneContext, input: Input<string, never, never, never>) => Promise<Reply>
    >,
    OperationFields<AnyObject, AnyObject, z.ZodMiniType> {
  readonly summary: string
}

type Fields<Params, Query, Body, Run> = OperationFields<Params, Query, Body> & { readonly run: Run }

/** An operation. `params`, `query` and `body` are checked before it runs. */
export const route = <
  const Path extends string,
  Params extends AnyObject = never,
  Query extends AnyObject = never,
  Body extends z.ZodMiniType = never,
>(
  method: Method,
  path: Path,
  fields: Fields<
    Params,
    Query,
    Body,
    (context: ControlPlaneContext, input: Input<Path, Params, Query, Body>) => Promise<Reply>
  >,
): Operation => ({ ...(fields as unknown as Operation), method, path })

/** Makes a `route` for operations that begin with the same step, such as finding what their path names. */
export const routeAfter =
  <Found, Params extends AnyObject = never>(
    find: (
      context: ControlPlaneContext,
      input: { readonly call: Call; readonly params: z.output<Params> },
    ) => Promise<Found>,
    params?: Params,
  ) =>
  <const Path extends string, Query extends AnyObject = never, Body extends z.ZodMiniType = never>(
    method: Method,
    path: Path,
    {
      run,
      ...fields
    }: Fields<
      never,
      Query,
      Body,
      (found: Found, input: Input<Path, Params, Query, Body>, context: ControlPlaneContext) => Promise<Reply>
    >,
  ): Operation => ({
    ...(params && { params }),
    ...fields,
    method,
    path,
    run: async (context, input) => run(await find(context, input as never), input as never, context),
  })

/** Operations that the document lists under one heading. */
export const tagged = (tag: string, operations: readonly Operation[]): readonly Operation[] =>
  operations.map((operation) => ({ ...operation, tag }))

/**
 * What LangChain's messages import from two packages that this app's pages do not use: LangSmith's client,
 * because pages do not trace, and zod's core, because they create no schemas. Together they are 100 KiB.
 * next.config.ts replaces them with this file, for browsers only.
 */
export class Client {}
export class RunTree {}
export class $ZodNever {}
export class $ZodOptional {}
export class $ZodUnknown {}
export const isRunTree = (): boolean => false
export const isTraceableFunction = (): boolean => false
export const getCurrentRunTree = absent
export const convertToDottedOrderFormat = absent
export const _never = absent
export const _unknown = absent
export const clone = absent
export const parse = absent
export const parseAsync = absent
export const toJSONSchema = absent
export const globalRegistry = {}
export const util = {}

function absent(): never {
  throw new Error('Pages of this app have no LangSmith and no zod: see next.config.ts.')
}
export const defaultTextSplitter = absent
export const filterMessages = absent
export const mergeMessageRuns = absent
export const trimMessages = absent

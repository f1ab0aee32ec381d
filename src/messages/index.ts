export { type Accumulator, accumulate, createAccumulator } from './accumulator.ts'
export type {
  Annotation,
  Citation,
  ContentBlock,
  Extras,
  InvalidToolCallBlock,
  MediaBlock,
  MediaType,
  NonStandardAnnotation,
  NonStandardBlock,
  ReasoningBlock,
  ServerToolCallBlock,
  ServerToolResultBlock,
  TextBlock,
  ToolCallBlock,
} from './content.ts'
export type {
  BlockDelta,
  BlockFinish,
  BlockPatch,
  BlockStart,
  Delta,
  MessageError,
  MessageEvent,
  MessageFinish,
  MessageStart,
  UsageReport,
} from './events.ts'
export { type FinishReason, isMessage, type Message, type Role, textOf } from './message.ts'
export type { Usage, UsageDetails } from './usage.ts'
export { decodeBlock, encodeBlock, type WireBlock } from './wire/blocks.ts'
export { createMessageDecoder, type MessageDecoder } from './wire/decode-events.ts'
export {
  createMessageEncoder,
  type MessageEncoder,
  type WireDelta,
  type WireMessageEvent,
} from './wire/events.ts'
export { decodeMessage, encodeMessage, toWireMessage, type WireMessage } from './wire/messages.ts'
export { decodeUsage, encodeUsage, type WireUsage } from './wire/usage.ts'

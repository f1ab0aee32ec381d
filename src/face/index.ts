export {
  type EncodeError,
  type ErrorOrigin,
  encodeSse,
  formatSse,
  HttpError,
  type IterableSource,
  json,
  type ResponseOptions,
  type SseEvent,
  type StreamFraming,
  type StreamOptions,
  type StreamSource,
  sourceOf,
  sseResponse,
  streamResponse,
  type Ticker,
} from '../http/index.ts'
export { type Permitted, permit } from './access.ts'
export { createFace, createFaceHandler, type Face, type FaceSetup } from './create-face.ts'
export { reporterOf } from './errors.ts'
export { requireThread } from './require-thread.ts'
export {
  type FaceCall,
  type FaceContext,
  type FaceEndpoint,
  type FaceRoute,
  onDemand,
} from './routes.ts'

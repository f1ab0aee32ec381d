export { approve, type Question, type ReadCall, reject, toolCallsOf } from './read.ts'
export { type ScriptedModel, type ScriptedReply, scriptedModel } from './scripted-model.ts'

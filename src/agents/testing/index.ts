export {
  approve,
  type Question,
  type ReadCall,
  reject,
  type ScriptedModel,
  type ScriptedReply,
  scriptedModel,
  toolCallsOf,
} from './scripted-model.ts'

export { postChat } from './chat/post.ts'
export {
  deleteConversation,
  getConversation,
  patchConversation,
  postConversation,
} from './conversations.ts'
export { deleteItem, getItem, listItems, postItems } from './items/endpoints.ts'
export { getModel, listModels } from './models.ts'
export { countTokens, listInputItems } from './responses/input.ts'
export { cancelResponse, deleteResponse, getResponse } from './responses/kept.ts'
export { postResponse } from './responses/post.ts'

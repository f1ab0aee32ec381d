export { Chat as default } from '../../start/page/chat.tsx'

package server

import (
	"net/http"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/chat"
	"github.com/parlance-llm/parlance/server/completions"
	"github.com/parlance-llm/parlance/server/messages"
	"github.com/parlance-llm/parlance/server/parse"
	"github.com/parlance-llm/parlance/server/playground"
	"github.com/parlance-llm/parlance/server/responses"
)

// routes puts the interfaces on their paths.
func (s *Server) routes(parser *parlance.Parser) error {
	shown := playground.Options{Generator: s.generator, Registry: s.config.Registry()}
	shown.Chat = s.routeChat(parser)
	shown.Responses = s.routeResponses()
	shown.Messages = s.routeMessages()
	s.routeParse()
	s.routeDocs()
	s.operational()
	if s.config.Playground {
		var err error
		if shown.Vocabulary, err = s.config.Vocabulary(); err != nil {
			return err
		}
		s.mux.Handle("/playground/", http.StripPrefix("/playground", playground.Handler(shown)))
		s.mux.Handle("GET /{$}", http.RedirectHandler(s.config.RootPath+"/playground/", http.StatusFound))
		s.mux.Handle("GET /playground", http.RedirectHandler(s.config.RootPath+"/playground/", http.StatusMovedPermanently))
	}
	return nil
}

// routeChat is the Chat Completions interface, and what reads its conversations.
func (s *Server) routeChat(parser *parlance.Parser) *chat.Handler {
	settings := s.settings(parser)
	chats := &chat.Handler{Generator: s.generator, Models: s.models, Settings: settings}
	s.generates("POST /v1/chat/completions", chats, apierror.ShapeOpenAI)
	s.serves("POST /v1/chat/completions/derender", http.HandlerFunc(chats.Derender), apierror.ShapeOpenAI)
	s.serves("POST /tokenize", http.HandlerFunc(chats.Tokenize), apierror.ShapeOpenAI)
	s.serves("POST /detokenize", http.HandlerFunc(chats.Detokenize), apierror.ShapeOpenAI)
	if s.config.TokenizerInfo {
		s.serves("GET /tokenizer_info", http.HandlerFunc(chats.TokenizerInfo), apierror.ShapeOpenAI)
	}
	s.generates("POST /v1/completions", &completions.Handler{Generator: s.generator, Models: s.models, Settings: completions.Settings{
		ForceUsage: settings.ForceUsage, PromptDetails: settings.PromptDetails, TokensAsIDs: settings.TokensAsIDs, Limits: settings.Limits,
		BodyLimit: settings.BodyLimit, KeepAlive: settings.KeepAlive, WriteTimeout: settings.WriteTimeout, Fingerprint: settings.Fingerprint,
		MaxPrompts: 1024,
	}}, apierror.ShapeOpenAI)
	return chats
}

// routeResponses is the OpenAI Responses interface, and the conversations that belong to it.
func (s *Server) routeResponses() *responses.Handler {
	h := &responses.Handler{Generator: s.generator, Models: s.models, Store: s.store, Settings: s.responsesSettings(), Logger: s.logger}
	s.responses = h
	s.generates("POST /v1/responses", h.Create(), apierror.ShapeOpenAI)
	for pattern, handler := range map[string]http.Handler{
		"POST /v1/responses/input_tokens": h.InputTokens(), "GET /v1/responses/{id}": h.Get(), "DELETE /v1/responses/{id}": h.Delete(),
		"POST /v1/responses/{id}/cancel": h.Cancel(), "GET /v1/responses/{id}/input_items": h.InputItems(),
		"POST /v1/conversations": h.CreateConversation(), "DELETE /v1/conversations/{id}": h.DeleteConversation(),
		"GET /v1/conversations/{id}": h.Conversation(), "POST /v1/conversations/{id}": h.Conversation(),
		"GET /v1/conversations/{id}/items": h.ConversationItems(), "POST /v1/conversations/{id}/items": h.ConversationItems(),
		"GET /v1/conversations/{id}/items/{item}": h.ConversationItem(), "DELETE /v1/conversations/{id}/items/{item}": h.DeleteConversationItem(),
	} {
		s.serves(pattern, handler, apierror.ShapeOpenAI)
	}
	return h
}

// routeMessages is Anthropic's Messages interface.
func (s *Server) routeMessages() *messages.Handler {
	handler := &messages.Handler{Generator: s.generator, Models: s.models, Settings: s.messagesSettings()}
	s.generates("POST /v1/messages", handler, apierror.ShapeAnthropic)
	s.serves("POST /v1/messages/count_tokens", http.HandlerFunc(handler.CountTokens), apierror.ShapeAnthropic)
	return handler
}

// routeParse sorts text that comes from elsewhere.
func (s *Server) routeParse() {
	handler := &parse.Handler{Models: s.models, Formats: s.config.Registry(), BodyLimit: s.config.MaxBodySize}
	s.serves("POST /v1/parse", handler, apierror.ShapeOpenAI)
	s.converses("POST /v1/parse/stream", http.HandlerFunc(handler.Stream), apierror.ShapeOpenAI)
}

package server

import (
	"net/http"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/chat"
	"github.com/parlance-llm/parlance/server/completions"
	"github.com/parlance-llm/parlance/server/messages"
	"github.com/parlance-llm/parlance/server/parse"
)

// routes puts the interfaces on their paths.
func (s *Server) routes(parser *parlance.Parser) {
	s.routeChat(parser)
	s.routeMessages()
	s.routeParse()
	s.operational()
}

// routeChat is the Chat Completions interface, and what reads its conversations.
func (s *Server) routeChat(parser *parlance.Parser) {
	settings := s.settings(parser)
	chats := &chat.Handler{Generator: s.generator, Models: s.models, Settings: settings, Logger: s.logger}
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
}

// routeMessages is Anthropic's Messages interface.
func (s *Server) routeMessages() {
	handler := &messages.Handler{Generator: s.generator, Models: s.models, Settings: s.messagesSettings(), Logger: s.logger}
	s.generates("POST /v1/messages", handler, apierror.ShapeAnthropic)
	s.serves("POST /v1/messages/count_tokens", http.HandlerFunc(handler.CountTokens), apierror.ShapeAnthropic)
}

// routeParse sorts text that comes from elsewhere.
func (s *Server) routeParse() {
	handler := &parse.Handler{Models: s.models, BodyLimit: s.config.MaxBodySize}
	s.serves("POST /v1/parse", handler, apierror.ShapeOpenAI)
	s.serves("POST /v1/parse/stream", http.HandlerFunc(handler.Stream), apierror.ShapeOpenAI)
}
